#include "runtime/ops/activation.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace reprise::ops {
namespace {

constexpr std::pair<ActivationKind, absl::string_view> kNames[] = {
    {ActivationKind::kNone, ""},
    {ActivationKind::kRelu, "Relu"},
    {ActivationKind::kLeakyRelu, "LeakyRelu"},
    {ActivationKind::kClip, "Clip"},
    {ActivationKind::kSigmoid, "Sigmoid"},
    {ActivationKind::kTanh, "Tanh"},
    {ActivationKind::kHardSigmoid, "HardSigmoid"},
    {ActivationKind::kHardSwish, "HardSwish"},
    {ActivationKind::kSilu, "Silu"},
};

}  // namespace

absl::StatusOr<Activation> ReadActivation(const graph::Node& node) {
  Activation activation;
  REPRISE_ASSIGN_OR_RETURN(const std::string word,
                           node.attributes.String("activation", ""));
  for (const auto& [kind, name] : kNames) {
    if (name != word) continue;
    activation.kind = kind;
    REPRISE_ASSIGN_OR_RETURN(activation.alpha,
                             node.attributes.Float("activation_alpha", 0));
    REPRISE_ASSIGN_OR_RETURN(activation.beta,
                             node.attributes.Float("activation_beta", 0));
    return activation;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("activation '", word, "' is not known"));
}

void SetActivation(const Activation& activation, graph::Node& node) {
  node.attributes.Set("activation",
                      std::string(ActivationName(activation.kind)));
  node.attributes.Set("activation_alpha", activation.alpha);
  node.attributes.Set("activation_beta", activation.beta);
}

absl::string_view ActivationName(ActivationKind kind) {
  for (const auto& [known, name] : kNames) {
    if (known == kind) return name;
  }
  return "";
}

}  // namespace reprise::ops
