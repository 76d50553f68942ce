#include "runtime/tensor/host_tensor.h"

#include <algorithm>
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
// No process has as many addresses. Checked here, since allocators that look
// for errors end the process instead of refusing.
constexpr size_t kTooMany = size_t{1} << 47;

// Null if there is none.
std::byte* Allocate(size_t bytes) {
  if (bytes >= kTooMany) return nullptr;
  const size_t blocks =
      (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment;
  return static_cast<std::byte*>(
      std::aligned_alloc(kAlignment, blocks * kAlignment));
}

}  // namespace

AlignedBuffer::AlignedBuffer(size_t bytes)
    : data_(Allocate(bytes)), size_(bytes) {
  if (data_ == nullptr) std::abort();  // as operator new without a handler
  std::memset(data_.get(), 0, bytes);
}

absl::StatusOr<AlignedBuffer> AlignedBuffer::Create(size_t bytes) {
  AlignedBuffer buffer;
  buffer.data_.reset(Allocate(bytes));
  if (buffer.data_ == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a block of ", bytes, " bytes is not to be had"));
  }
  buffer.size_ = bytes;
  std::memset(buffer.data_.get(), 0, bytes);
  return buffer;
}

void AlignedBuffer::Free::operator()(std::byte* p) const { std::free(p); }

absl::StatusOr<HostTensor> HostTensor::Create(DType dtype, Dims dims) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t bytes, NumBytes(dtype, dims));
  REPRISE_ASSIGN_OR_RETURN(AlignedBuffer buffer,
                           AlignedBuffer::Create(static_cast<size_t>(bytes)));
  return HostTensor(dtype, std::move(dims), std::move(buffer));
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
