// The activation of a fused node, applied to one number.
#pragma once

#include <algorithm>
#include <cmath>

#include "runtime/ops/activation.h"

namespace reprise::cpu {

template <typename C>
C Activate(const ops::Activation& activation, C x) {
  const C alpha = static_cast<C>(activation.alpha);
  const C beta = static_cast<C>(activation.beta);
  const auto gate = [&] {
    return std::max(std::min(alpha * x + beta, C{1}), C{0});  // NaN stays
  };
  switch (activation.kind) {
    case ops::ActivationKind::kNone:
      return x;
    case ops::ActivationKind::kRelu:
      return x < C{0} ? C{0} : x;
    case ops::ActivationKind::kLeakyRelu:
      return x < C{0} ? alpha * x : x;
    case ops::ActivationKind::kClip: {
      const C raised = x < alpha ? alpha : x;
      return beta < raised ? beta : raised;
    }
    case ops::ActivationKind::kSigmoid:
      return C{1} / (C{1} + std::exp(-x));
    case ops::ActivationKind::kTanh:
      return std::tanh(x);
    case ops::ActivationKind::kHardSigmoid:
      return gate();
    case ops::ActivationKind::kHardSwish:
      return x * gate();
    case ops::ActivationKind::kSilu:
      return x / (C{1} + std::exp(-x));
  }
  return x;
}

}  // namespace reprise::cpu
