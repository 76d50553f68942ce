#include "runtime/prepare/slot_layout.h"

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/tensor/shape.h"

namespace reprise {
namespace {

constexpr size_t kAlignment = 64;

absl::Status Lay(const std::vector<TensorSpec>& specs, int rows,
                 std::vector<SlotLayout::Tensor>& tensors, size_t& end) {
  for (const TensorSpec& spec : specs) {
    REPRISE_ASSIGN_OR_RETURN(const int64_t row,
                             NumBytes(spec.dtype, spec.dims));
    const int64_t sizes[] = {row, rows};
    REPRISE_ASSIGN_OR_RETURN(const int64_t bytes, NumElements(sizes));
    SlotLayout::Tensor tensor;
    tensor.offset = end;
    tensor.bytes = static_cast<size_t>(bytes);
    tensor.row_bytes = static_cast<size_t>(row);
    end += (tensor.bytes + kAlignment - 1) / kAlignment * kAlignment;
    tensors.push_back(tensor);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SlotLayout> MakeSlotLayout(const Signature& signature,
                                          int rows) {
  SlotLayout layout;
  REPRISE_RETURN_IF_ERROR(
      Lay(signature.inputs, rows, layout.inputs, layout.bytes));
  REPRISE_RETURN_IF_ERROR(
      Lay(signature.outputs, rows, layout.outputs, layout.bytes));
  return layout;
}

std::vector<TensorRows> RowsOf(std::span<const SlotLayout::Tensor> tensors,
                               std::span<std::byte* const> addresses) {
  std::vector<TensorRows> rows;
  rows.reserve(tensors.size());
  for (size_t k = 0; k < tensors.size(); ++k) {
    rows.push_back({addresses[k], tensors[k].row_bytes});
  }
  return rows;
}

}  // namespace reprise
