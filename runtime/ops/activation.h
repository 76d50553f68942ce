// The activation that a fused node applies to its result.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/graph/graph.h"

namespace reprise::ops {

enum class ActivationKind {
  kNone,
  kRelu,
  kLeakyRelu,  // alpha: slope below 0
  kClip,       // alpha: low, beta: high; either may be infinite
  kSigmoid,
  kTanh,
  kHardSigmoid,  // max(0, min(1, alpha * x + beta))
  kHardSwish,    // x * max(0, min(1, alpha * x + beta)), alpha 1/6, beta 0.5
  kSilu,         // x * sigmoid(x)
};

// Written by fuse.h on Conv, Gemm and MatMul as the attributes `activation`
// (one of Relu LeakyRelu Clip Sigmoid Tanh HardSigmoid HardSwish Silu),
// `activation_alpha` and `activation_beta`. A device that runs one of these
// operators must honour it: kNone is the only one that may be ignored.
struct Activation {
  ActivationKind kind = ActivationKind::kNone;
  float alpha = 0;
  float beta = 0;
};

// kNone where the node has none. INVALID_ARGUMENT for an unknown word.
absl::StatusOr<Activation> ReadActivation(const graph::Node& node);
void SetActivation(const Activation& activation, graph::Node& node);
absl::string_view ActivationName(ActivationKind kind);

}  // namespace reprise::ops
