// What kernels take besides addresses: each takes its pointers, then one of
// these structs by value. Read by device code, and by the plain C++ that fills
// them.
#pragma once

#include <cstdint>

namespace reprise::kernels {

inline constexpr int kMaxWalkAxes = 8;

// Elements that one thread of an element-wise kernel takes at a time, where
// they lie together.
constexpr int PackOf(int element_bytes) { return element_bytes == 2 ? 8 : 4; }

// A walk in row-major order over `dims`, by operands with strides of their own.
// One step is a pack of `pack` elements, which lie in one row. Axes are merged
// where they can be; there is at least one.
template <int kOperands>
struct WalkOf {
  static constexpr int kMaxOperands = kOperands;

  int64_t count = 0;     // steps: packs, the last of which may be cut off
  int64_t elements = 0;  // of the whole walk
  int32_t axes = 1;
  int32_t pack = 1;
  int32_t narrow = 1;  // every count and offset fits 31 bits
  // From one element of a pack to the next: 0 or 1.
  int32_t step[kOperands] = {};
  int64_t dims[kMaxWalkAxes] = {};  // in steps
  // In elements, from one step to the next along an axis.
  int64_t strides[kOperands][kMaxWalkAxes] = {};
};
using Walk = WalkOf<3>;
// What kernels that are written at load take (ptx_chain.h).
using ChainWalk = WalkOf<8>;

// What stamp.cu keeps on the GPU between the ends of a graph, and what it
// leaves of each replay. Times are in nanoseconds.
struct StampState {
  uint64_t replays = 0;  // that are over
  uint64_t begun = 0;
};
struct Stamp {
  uint64_t replay = 0;
  uint64_t begun = 0;
  uint64_t ended = 0;
};
inline constexpr int kStampRing = 64;

struct UnaryParams {
  int64_t elements = 0;
  float a = 0;
  float b = 0;
  int32_t reserved[2] = {};
};

struct CastParams {
  int64_t elements = 0;
  int64_t reserved[2] = {};
};

// Bounds of a type's own kind; a bound whose pointer is not null is read there.
struct ClipParams {
  int64_t elements = 0;
  double low = 0;
  double high = 0;
  int64_t low_int = 0;
  int64_t high_int = 0;
  int32_t has_low = 0;
  int32_t has_high = 0;
};

// `bits` are one element's, from the least significant byte on.
struct FillParams {
  int64_t elements = 0;
  uint64_t bits = 0;
  int64_t reserved = 0;
};

// The input seen as [outer, extent, inner], the output as
// [outer, indices, inner].
struct GatherParams {
  int64_t outer = 1;
  int64_t extent = 1;
  int64_t inner = 1;
  int64_t indices = 1;
};

// A batch of matrices [rows, columns] that are turned over.
struct TransposeParams {
  int64_t batch = 1;
  int64_t rows = 1;
  int64_t columns = 1;
};

struct SoftmaxParams {
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;
  int32_t log = 0;
};

struct LayerNormParams {
  int64_t rows = 1;
  int64_t length = 1;
  float epsilon = 0;
  int32_t scale_step = 1;  // 0: one number for the row
  int32_t bias_step = 1;
};

// `kept` walks what stays (operand 0 is the input), `folded` what goes, for
// each step of `kept`.
struct ReduceParams {
  Walk kept;
  Walk folded;
};

// The kinds of ops::ActivationKind, in its order.
enum Activation : int32_t {
  kNoActivation,
  kRelu,
  kLeakyRelu,
  kClip,
  kSigmoid,
  kTanh,
  kHardSigmoid,
  kHardSwish,
  kSilu,
};

// y = activation(alpha * product + beta * c) of a matrix [rows, columns] whose
// addend c has strides of its own.
struct EpilogueParams {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t c_row = 0;
  int64_t c_column = 0;
  float alpha = 1;
  float beta = 1;
  int32_t activation = kNoActivation;
  float activation_alpha = 0;
  float activation_beta = 0;
};

// Products of [m, k] and [k, n], strides in elements; `batch` has a step for
// each product, and strides in elements too (operands a and b).
struct MatMulParams {
  int64_t k = 0;
  int64_t a_row = 0;
  int64_t a_column = 1;
  int64_t b_row = 0;
  int64_t b_column = 1;
  Walk batch;
  EpilogueParams epilogue;  // its rows are m, its columns n
};

}  // namespace reprise::kernels
