#include "runtime/batch/assemble.h"

#include <cstring>

#include "absl/strings/str_cat.h"

namespace reprise {

size_t RowBytes(const TensorSpec& spec) {
  size_t bytes = ElementSize(spec.dtype);
  for (const int64_t dim : spec.dims) bytes *= static_cast<size_t>(dim);
  return bytes;
}

absl::Status Gather(const InferTask& task, std::span<const InputBuffer> inputs,
                    int first_row, const Signature& signature) {
  if (task.inputs.size() != inputs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("request has ", task.inputs.size(), " inputs, the model ",
                     inputs.size()));
  }
  const auto first = static_cast<size_t>(first_row);
  const auto rows = static_cast<size_t>(task.rows);
  for (size_t k = 0; k < inputs.size(); ++k) {
    const InputBuffer& to = inputs[k];
    const size_t want = rows * to.row_bytes;
    if (first_row < 0 || task.rows < 1 ||
        (first + rows) * to.row_bytes > to.bytes.size()) {
      return absl::OutOfRangeError(absl::StrCat(
          "slot has no rows [", first_row, ", ", first_row + task.rows,
          ") of input '", signature.inputs[k].name, "'"));
    }
    size_t have = 0;
    for (const auto& piece : task.inputs[k].pieces) have += piece.size();
    if (have != want) {
      return absl::InvalidArgumentError(
          absl::StrCat("input '", signature.inputs[k].name, "' has ", have,
                       " bytes, ", task.rows, " rows need ", want));
    }
    std::byte* at = to.bytes.data() + first * to.row_bytes;
    for (const auto& piece : task.inputs[k].pieces) {
      if (piece.empty()) continue;
      std::memcpy(at, piece.data(), piece.size());
      at += piece.size();
    }
  }
  return absl::OkStatus();
}

void RepeatRow(std::span<const InputBuffer> inputs, int from, int first_row,
               int rows) {
  for (const InputBuffer& input : inputs) {
    if (input.row_bytes == 0) continue;
    const std::byte* source =
        input.bytes.data() + static_cast<size_t>(from) * input.row_bytes;
    for (int row = first_row; row < first_row + rows; ++row) {
      if (row == from) continue;
      std::memcpy(
          input.bytes.data() + static_cast<size_t>(row) * input.row_bytes,
          source, input.row_bytes);
    }
  }
}

}  // namespace reprise
