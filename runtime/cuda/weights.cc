#include "runtime/cuda/weights.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/tensor/float16.h"

namespace reprise::cuda {
namespace {

constexpr float kLargestHalf = 65504;

Half SaturatedHalf(float value) {
  if (std::isfinite(value)) {
    value = std::clamp(value, -kLargestHalf, kLargestHalf);
  }
  return Half(value);
}

// The largest BF16 is within half a step of the largest FP32, which would round
// to infinity.
BFloat16 SaturatedBFloat16(float value) {
  const BFloat16 rounded(value);
  if (std::isfinite(value) && !std::isfinite(static_cast<float>(rounded))) {
    return BFloat16(std::signbit(value) ? -0x1.FEp127F : 0x1.FEp127F);
  }
  return rounded;
}

absl::StatusOr<AlignedBuffer> Converted(const HostTensor& tensor, DType as) {
  const bool half = as == DType::kFp16;
  if (tensor.dtype() != DType::kFp32 || (!half && as != DType::kBf16)) {
    return absl::InternalError(absl::StrCat("a constant of ",
                                            DTypeName(tensor.dtype()),
                                            " is not kept as ", DTypeName(as)));
  }
  const std::span<const float> values = tensor.values<float>();
  REPRISE_ASSIGN_OR_RETURN(
      AlignedBuffer buffer,
      AlignedBuffer::Create(values.size() * ElementSize(as)));
  if (half) {
    std::transform(values.begin(), values.end(),
                   reinterpret_cast<Half*>(buffer.data()), SaturatedHalf);
  } else {
    std::transform(values.begin(), values.end(),
                   reinterpret_cast<BFloat16*>(buffer.data()),
                   SaturatedBFloat16);
  }
  return buffer;
}

}  // namespace

int CudaWeights::AddEntry(const std::byte* data, int64_t bytes) {
  const int64_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  entries_.push_back({bytes_, bytes, bytes > 0 ? data : nullptr});
  bytes_ += rounded;
  return static_cast<int>(entries_.size()) - 1;
}

absl::StatusOr<int> CudaWeights::Add(
    const std::shared_ptr<const HostTensor>& tensor, DType as) {
  const std::pair key(tensor.get(), as);
  if (const auto it = tensors_.find(key); it != tensors_.end()) {
    return it->second;
  }
  int index = -1;
  if (tensor->dtype() == as) {
    index = AddEntry(tensor->bytes().data(),
                     static_cast<int64_t>(tensor->bytes().size()));
  } else {
    REPRISE_ASSIGN_OR_RETURN(AlignedBuffer buffer, Converted(*tensor, as));
    index = AddEntry(buffer.data(), static_cast<int64_t>(buffer.size()));
    converted_.emplace(index, std::move(buffer));
  }
  kept_.push_back(tensor);
  tensors_.emplace(key, index);
  return index;
}

int CudaWeights::AddBytes(absl::string_view key, std::vector<std::byte> bytes) {
  if (const auto it = keys_.find(key); it != keys_.end()) return it->second;
  const int index = AddEntry(bytes.data(), static_cast<int64_t>(bytes.size()));
  derived_.emplace(index, std::move(bytes));
  keys_.emplace(key, index);
  return index;
}

void CudaWeights::DropHostCopies() {
  for (const auto& [index, buffer] : converted_) {
    entries_[static_cast<size_t>(index)].data = nullptr;
  }
  for (const auto& [index, bytes] : derived_) {
    entries_[static_cast<size_t>(index)].data = nullptr;
  }
  converted_.clear();
  derived_.clear();
}

}  // namespace reprise::cuda
