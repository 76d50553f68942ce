// A tensor that owns its bytes in host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/shape.h"

namespace reprise {

// Bytes aligned to 64, as vector loads and device copies like them.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  // Contents are zero. `bytes` may be 0. RESOURCE_EXHAUSTED if the system has
  // no such block.
  static absl::StatusOr<AlignedBuffer> Create(size_t bytes);
  // The same, but ends the process: for sizes that cannot be too large.
  explicit AlignedBuffer(size_t bytes);

  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  size_t size_ = 0;
};

// Weights, constants, expected values. Row-major, little-endian. A kString
// tensor also owns the text of its elements.
class HostTensor {
 public:
  HostTensor() : HostTensor(DType::kFp32, Dims{0}, AlignedBuffer()) {}

  // Zeroed. INVALID_ARGUMENT as NumBytes, RESOURCE_EXHAUSTED as AlignedBuffer.
  static absl::StatusOr<HostTensor> Create(DType dtype, Dims dims);
  // `elements.size()` must be the product of `dims`: else INVALID_ARGUMENT.
  static absl::StatusOr<HostTensor> FromStrings(
      Dims dims, std::vector<std::string> elements);

  DType dtype() const { return dtype_; }
  const Dims& dims() const { return dims_; }
  int64_t elements() const {
    return static_cast<int64_t>(buffer_.size() / ElementSize(dtype_));
  }
  std::span<std::byte> bytes() { return {buffer_.data(), buffer_.size()}; }
  std::span<const std::byte> bytes() const {
    return {buffer_.data(), buffer_.size()};
  }

  // The elements as T, whose size must be that of the dtype.
  template <typename T>
  std::span<T> values() {
    return {reinterpret_cast<T*>(buffer_.data()), buffer_.size() / sizeof(T)};
  }
  template <typename T>
  std::span<const T> values() const {
    return {reinterpret_cast<const T*>(buffer_.data()),
            buffer_.size() / sizeof(T)};
  }

 private:
  HostTensor(DType dtype, Dims dims, AlignedBuffer buffer)
      : dtype_(dtype), dims_(std::move(dims)), buffer_(std::move(buffer)) {}

  DType dtype_;
  Dims dims_;
  AlignedBuffer buffer_;
  std::unique_ptr<std::vector<std::string>> text_;  // kString only
};

}  // namespace reprise
