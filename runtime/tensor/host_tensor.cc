#include "runtime/tensor/host_tensor.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/tensor/string_ref.h"

namespace reprise {
namespace {

constexpr size_t kAlignment = 64;

size_t RoundUp(size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

AlignedBuffer::AlignedBuffer(size_t bytes)
    : data_(static_cast<std::byte*>(
          std::aligned_alloc(kAlignment, RoundUp(bytes == 0 ? 1 : bytes)))),
      size_(bytes) {
  if (data_ == nullptr) std::abort();  // as operator new without a handler
  std::memset(data_.get(), 0, bytes);
}

void AlignedBuffer::Free::operator()(std::byte* p) const { std::free(p); }

absl::StatusOr<HostTensor> HostTensor::Create(DType dtype, Dims dims) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t bytes, NumBytes(dtype, dims));
  return HostTensor(dtype, std::move(dims),
                    AlignedBuffer(static_cast<size_t>(bytes)));
}

absl::StatusOr<HostTensor> HostTensor::FromStrings(
    Dims dims, std::vector<std::string> elements) {
  REPRISE_ASSIGN_OR_RETURN(HostTensor tensor,
                           Create(DType::kString, std::move(dims)));
  if (tensor.elements() != static_cast<int64_t>(elements.size())) {
    return absl::InvalidArgumentError(absl::StrCat(
        elements.size(), " strings for shape ", DimsText(tensor.dims())));
  }
  tensor.text_ =
      std::make_unique<std::vector<std::string>>(std::move(elements));
  const std::span<StringRef> refs = tensor.values<StringRef>();
  for (size_t i = 0; i < refs.size(); ++i) {
    const std::string& text = (*tensor.text_)[i];
    refs[i] = {text.data(), text.size()};
  }
  return tensor;
}

}  // namespace reprise
