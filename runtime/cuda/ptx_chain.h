// Chains of element-wise nodes as one kernel, written as PTX: what stands
// between an operator and the next is never stored.
#pragma once

#include <string>
#include <vector>

#include "runtime/cuda/kernels/params.h"
#include "runtime/cuda/program.h"
#include "runtime/tensor/dtype.h"

namespace reprise::cuda {

enum class ChainOp {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMax,
  kMin,
  kNeg,
  kAbs,
  kRelu,
  kLeakyRelu,  // alpha
  kClip,       // alpha: low, beta: high
  kExp,
  kLog,
  kSqrt,
  kReciprocal,
  kSquare,
  kErf,
  kTanh,
  kSigmoid,
  kHardSigmoid,  // alpha, beta
  kHardSwish,
  kGeluErf,
  kGeluTanh,
};

// An operand of a link: an earlier link, an input, or a number.
struct ChainOperand {
  enum class Kind { kLink, kInput, kNumber };
  Kind kind = Kind::kLink;
  int index = 0;  // of the link or the input
  float number = 0;
};

struct ChainLink {
  ChainOp op = ChainOp::kAdd;
  ChainOperand a = {};
  ChainOperand b = {};  // of the operators of two
  float alpha = 0;
  float beta = 0;
};

// What is loaded, what becomes of it, and what is stored: the last link. All
// arithmetic is FP32. Types are FP32, FP16 and BF16.
struct Chain {
  std::vector<DType> inputs;
  std::vector<ChainLink> links;
  DType output = DType::kFp32;
};

inline constexpr int kMaxChainInputs = kernels::ChainWalk::kMaxOperands;
// Elements that a thread takes at a time, where the walk allows it.
inline constexpr int kChainPack = 4;

// The kernel of `chain` for walks with the axes, the pack and the steps of
// `walk`, whose counts and strides it is given when it is launched: a pointer
// for each input, one for the output, and the walk by value; a thread for each
// step of the walk, which must be narrow and have no pack that is cut off.
GeneratedModule WriteChain(const Chain& chain, const kernels::ChainWalk& walk);

}  // namespace reprise::cuda
