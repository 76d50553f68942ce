#include "runtime/cuda/arena.h"

#include <algorithm>
#include <cstddef>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"

namespace reprise::cuda {
namespace {

CUmemAllocationProp DeviceMemoryOf(CUdevice device) {
  CUmemAllocationProp prop = {};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop.location.id = device;
  return prop;
}

void LogIfFailed(const Driver& driver, CUresult result, const char* what) {
  const absl::Status status = ToStatus(driver, result, what);
  if (!status.ok()) LogError(status.message());
}

}  // namespace

ArenaHold::~ArenaHold() {
  if (arena_ != nullptr) arena_->Release(bytes_);
}

absl::StatusOr<std::unique_ptr<Arena>> Arena::Create(
    const PrimaryContext& context, int64_t reserve_bytes) {
  const Driver& driver = context.driver();
  const CUmemAllocationProp prop = DeviceMemoryOf(context.device());
  size_t granularity = 0;
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver,
               driver.MemGetAllocationGranularity(
                   &granularity, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
               "cuMemGetAllocationGranularity"));
  const auto unit = static_cast<int64_t>(granularity);
  if (reserve_bytes < 1 || unit < 1) {
    return absl::InvalidArgumentError("an arena of no bytes");
  }
  const int64_t reserved = (reserve_bytes + unit - 1) / unit * unit;
  CUdeviceptr address = 0;
  REPRISE_RETURN_IF_ERROR(ToStatus(
      driver,
      driver.MemAddressReserve(&address, static_cast<size_t>(reserved),
                               /*alignment=*/0, /*addr=*/0, /*flags=*/0),
      absl::StrCat("addresses for an arena of ", reserved, " bytes")));
  return absl::WrapUnique(new Arena(context, address, reserved, unit));
}

Arena::~Arena() {
  {
    absl::MutexLock lock(&mu_);
    while (!chunks_.empty()) UnmapLast();
  }
  const Driver& driver = context_.driver();
  LogIfFailed(driver,
              driver.MemAddressFree(address_, static_cast<size_t>(reserved_)),
              "cuMemAddressFree");
}

int64_t Arena::Rounded(int64_t bytes) const {
  return (bytes + granularity_ - 1) / granularity_ * granularity_;
}

absl::StatusOr<ArenaHold> Arena::Reserve(int64_t bytes) {
  if (bytes < 0 || bytes > reserved_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("activations need ", bytes, " bytes, and addresses for ",
                     reserved_, " are set aside"));
  }
  absl::MutexLock lock(&mu_);
  if (const int64_t needed = Rounded(bytes); needed > mapped_) {
    REPRISE_RETURN_IF_ERROR(Map(needed - mapped_));
  }
  needs_.insert(bytes);
  return ArenaHold(this, bytes);
}

int64_t Arena::BytesToGrow(int64_t bytes) const {
  absl::MutexLock lock(&mu_);
  return std::max<int64_t>(0, Rounded(bytes) - mapped_);
}

int64_t Arena::mapped() const {
  absl::MutexLock lock(&mu_);
  return mapped_;
}

absl::Status Arena::Map(int64_t bytes) {
  const Driver& driver = context_.driver();
  const CUmemAllocationProp prop = DeviceMemoryOf(context_.device());
  const auto size = static_cast<size_t>(bytes);
  const CUdeviceptr at = address_ + static_cast<CUdeviceptr>(mapped_);
  Chunk chunk{.handle = 0, .bytes = bytes};
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver, driver.MemCreate(&chunk.handle, size, &prop, 0),
               absl::StrCat("device memory of ", bytes, " bytes")));
  absl::Status status =
      ToStatus(driver, driver.MemMap(at, size, 0, chunk.handle, 0), "cuMemMap");
  if (!status.ok()) {
    LogIfFailed(driver, driver.MemRelease(chunk.handle), "cuMemRelease");
    return status;
  }
  chunks_.push_back(chunk);
  mapped_ += bytes;
  CUmemAccessDesc access = {};
  access.location = prop.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  status = ToStatus(driver, driver.MemSetAccess(at, size, &access, 1),
                    "cuMemSetAccess");
  if (!status.ok()) UnmapLast();
  return status;
}

void Arena::UnmapLast() {
  const Driver& driver = context_.driver();
  const Chunk chunk = chunks_.back();
  chunks_.pop_back();
  mapped_ -= chunk.bytes;
  LogIfFailed(driver,
              driver.MemUnmap(address_ + static_cast<CUdeviceptr>(mapped_),
                              static_cast<size_t>(chunk.bytes)),
              "cuMemUnmap");
  LogIfFailed(driver, driver.MemRelease(chunk.handle), "cuMemRelease");
}

void Arena::Release(int64_t bytes) {
  absl::MutexLock lock(&mu_);
  needs_.erase(needs_.find(bytes));
  const int64_t needed = needs_.empty() ? 0 : Rounded(*needs_.rbegin());
  while (!chunks_.empty() && mapped_ - chunks_.back().bytes >= needed) {
    UnmapLast();
  }
}

}  // namespace reprise::cuda
