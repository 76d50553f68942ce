// Memory of a GPU, and host memory that it copies from.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/driver.h"

namespace reprise::cuda {

// Owns a stretch of device memory, aligned to 256 bytes at least. The context
// outlives it.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  // Zero bytes are legal: a buffer without an address. RESOURCE_EXHAUSTED.
  static absl::StatusOr<DeviceBuffer> Allocate(const CurrentContext& current,
                                               int64_t bytes);

  DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(driver_, other.driver_);
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~DeviceBuffer();

  CUdeviceptr address() const { return address_; }
  int64_t bytes() const { return bytes_; }

 private:
  DeviceBuffer(const Driver& driver, CUdeviceptr address, int64_t bytes)
      : driver_(&driver), address_(address), bytes_(bytes) {}

  const Driver* driver_ = nullptr;  // not owned
  CUdeviceptr address_ = 0;
  int64_t bytes_ = 0;
};

// Owns page-locked host memory, aligned to a page. The context outlives it.
// Made while loading, never for a request: the driver stops for all meanwhile.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  // As DeviceBuffer::Allocate; its bytes are zero.
  static absl::StatusOr<PinnedBuffer> Allocate(const CurrentContext& current,
                                               size_t bytes);

  PinnedBuffer(PinnedBuffer&& other) noexcept { *this = std::move(other); }
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    std::swap(driver_, other.driver_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~PinnedBuffer();

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  PinnedBuffer(const Driver& driver, std::byte* data, size_t bytes)
      : driver_(&driver), data_(data), bytes_(bytes) {}

  const Driver* driver_ = nullptr;  // not owned
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

struct MemoryInfo {
  int64_t free = 0;
  int64_t total = 0;
};
absl::StatusOr<MemoryInfo> DeviceMemoryInfo(const CurrentContext& current);

}  // namespace reprise::cuda
