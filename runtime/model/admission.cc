#include "runtime/model/admission.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"

namespace reprise {
namespace {

// Bytes of one row of `tensors` on the wire; the largest int64 if they pass it.
int64_t RowBytes(const std::vector<TensorSpec>& tensors) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  int64_t sum = 0;
  for (const TensorSpec& tensor : tensors) {
    const bool text = tensor.dtype == DType::kString;
    int64_t bytes = text ? 4 : static_cast<int64_t>(ElementSize(tensor.dtype));
    for (const int64_t dim : tensor.dims) {
      if (dim == kFreeDim) continue;
      if (dim != 0 && bytes > kMax / dim) return kMax;
      bytes *= dim;
    }
    if (sum > kMax - bytes) return kMax;
    sum += bytes;
  }
  return sum;
}

}  // namespace

absl::Status CheckMessageSize(const Signature& signature,
                              int64_t max_message_bytes,
                              std::vector<std::string>& warnings) {
  const auto check = [&](absl::string_view what, int64_t row) {
    if (row > max_message_bytes) {
      return absl::FailedPreconditionError(absl::StrCat(
          "one row of its ", what, " has ", row,
          " bytes, more than --grpc-max-message-bytes=", max_message_bytes));
    }
    if (row > max_message_bytes / std::max(signature.max_batch, 1)) {
      warnings.push_back(absl::StrCat(
          "a ", what, " of max_batch_size ", signature.max_batch, " rows of ",
          row,
          " bytes does not fit --grpc-max-message-bytes=", max_message_bytes));
    }
    return absl::OkStatus();
  };
  absl::Status status = check("request", RowBytes(signature.inputs));
  status.Update(check("reply", RowBytes(signature.outputs)));
  return status;
}

int64_t MaxFileBytes(const DeviceMemory& memory, bool gpu) {
  if (gpu || memory.total <= 0) return std::numeric_limits<int64_t>::max();
  return memory.free / 2;
}

int64_t MaxConstantBytes(const DeviceMemory& memory, bool gpu,
                         int64_t file_bytes) {
  if (memory.total <= 0) return std::numeric_limits<int64_t>::max();
  return gpu ? memory.free : std::max<int64_t>(0, memory.free - file_bytes);
}

int64_t ConstantBytes(const graph::Graph& graph) {
  int64_t bytes = 0;
  for (const graph::Value& value : graph.values) {
    if (value.constant != nullptr) {
      bytes += static_cast<int64_t>(value.constant->bytes().size());
    }
  }
  return bytes;
}

absl::Status CheckMemory(int64_t needed, const DeviceMemory& memory) {
  if (memory.total > 0 && needed > memory.free) {
    return absl::ResourceExhaustedError(
        absl::StrCat("its weights need ", needed, " bytes, and ", memory.free,
                     " of the device's ", memory.total, " are free"));
  }
  return absl::OkStatus();
}

}  // namespace reprise
