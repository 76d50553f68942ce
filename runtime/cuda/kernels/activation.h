// The activation of a fused node, applied to one number.
#pragma once

#include "runtime/cuda/kernels/functions.h"
#include "runtime/cuda/kernels/params.h"

namespace reprise::kernels {

template <typename C>
REPRISE_BOTH C Activate(const EpilogueParams& params, C x) {
  const C alpha = static_cast<C>(params.activation_alpha);
  const C beta = static_cast<C>(params.activation_beta);
  switch (params.activation) {
    case kRelu:
      return Relu::Apply(x, alpha, beta);
    case kLeakyRelu:
      return LeakyRelu::Apply(x, alpha, beta);
    case kClip:
      return Clipped(x, true, alpha, true, beta);
    case kSigmoid:
      return Sigmoid::Apply(x, alpha, beta);
    case kTanh:
      return Tanh::Apply(x, alpha, beta);
    case kHardSigmoid:
      return Gate(x, alpha, beta);
    case kHardSwish:
      return x * Gate(x, alpha, beta);
    case kSilu:
      return Silu::Apply(x, alpha, beta);
    default:
      return x;
  }
}

}  // namespace reprise::kernels
