#include "runtime/cpu/evaluate.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/cpu/kernel.h"

namespace reprise::cpu {
namespace {

// An operator that passes elements of text through would leave them without an
// owner.
bool HasStrings(const ops::NodeView& view) {
  for (size_t i = 0; i < view.input_count(); ++i) {
    if (view.Has(i) && view.dtype(i) == DType::kString) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::vector<HostTensor>> EvaluateNode(
    const ops::NodeView& view, std::span<const ops::TensorType> outputs) {
  if (HasStrings(view)) return ops::NotRunHere("STRING is not folded");
  REPRISE_ASSIGN_OR_RETURN(const Kernel kernel,
                           MakePlainKernel({view, outputs}));
  std::vector<const std::byte*> inputs;
  for (size_t i = 0; i < view.input_count(); ++i) {
    if (view.Has(i) && view.constant(i) == nullptr) {
      return ops::NotRunHere(absl::StrCat("input ", i, " is not known"));
    }
    inputs.push_back(view.Has(i) ? view.constant(i)->bytes().data() : nullptr);
  }
  std::vector<HostTensor> results;
  for (const ops::TensorType& type : outputs) {
    REPRISE_ASSIGN_OR_RETURN(HostTensor tensor,
                             HostTensor::Create(type.dtype, type.dims));
    results.push_back(std::move(tensor));
  }
  std::vector<std::byte*> out;
  for (size_t i = 0; i < results.size(); ++i) {
    const bool named =
        i < view.node->outputs.size() && view.node->outputs[i] >= 0;
    out.push_back(named ? results[i].bytes().data() : nullptr);
  }
  REPRISE_ASSIGN_OR_RETURN(
      AlignedBuffer scratch,
      AlignedBuffer::Create(static_cast<size_t>(kernel.scratch_bytes)));
  kernel.run({inputs, out, scratch.data()});
  return results;
}

}  // namespace reprise::cpu
