#include "runtime/cuda/memory.h"

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"

namespace reprise::cuda {

absl::StatusOr<DeviceBuffer> DeviceBuffer::Allocate(
    const CurrentContext& current, int64_t bytes) {
  if (bytes < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("device memory of ", bytes, " bytes"));
  }
  if (bytes == 0) return DeviceBuffer();
  const Driver& driver = current.driver();
  CUdeviceptr address = 0;
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver, driver.MemAlloc(&address, static_cast<size_t>(bytes)),
               absl::StrCat("device memory of ", bytes, " bytes")));
  return DeviceBuffer(driver, address, bytes);
}

DeviceBuffer::~DeviceBuffer() {
  if (address_ == 0) return;
  const absl::Status status =
      ToStatus(*driver_, driver_->MemFree(address_), "cuMemFree");
  if (!status.ok()) LogError(status.message());
}

absl::StatusOr<PinnedBuffer> PinnedBuffer::Allocate(
    const CurrentContext& current, size_t bytes) {
  if (bytes == 0) return PinnedBuffer();
  const Driver& driver = current.driver();
  void* data = nullptr;
  REPRISE_RETURN_IF_ERROR(ToStatus(
      driver, driver.MemHostAlloc(&data, bytes, CU_MEMHOSTALLOC_PORTABLE),
      absl::StrCat("page-locked memory of ", bytes, " bytes")));
  std::memset(data, 0, bytes);
  return PinnedBuffer(driver, static_cast<std::byte*>(data), bytes);
}

PinnedBuffer::~PinnedBuffer() {
  if (data_ == nullptr) return;
  const absl::Status status =
      ToStatus(*driver_, driver_->MemFreeHost(data_), "cuMemFreeHost");
  if (!status.ok()) LogError(status.message());
}

absl::StatusOr<MemoryInfo> DeviceMemoryInfo(const CurrentContext& current) {
  size_t free = 0;
  size_t total = 0;
  const Driver& driver = current.driver();
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver, driver.MemGetInfo(&free, &total), "cuMemGetInfo"));
  return MemoryInfo{static_cast<int64_t>(free), static_cast<int64_t>(total)};
}

}  // namespace reprise::cuda
