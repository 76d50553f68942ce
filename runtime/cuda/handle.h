// Owning handles of CUDA driver objects.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/log.h"
#include "runtime/cuda/driver.h"

namespace reprise::cuda {

// Owns one driver handle and destroys it exactly once, by a function of the
// driver's table. A failed destroy is logged: a destructor has nobody to return
// an error to. Destroyed on the thread that may use the handle, its context
// current.
template <typename Handle>
class UniqueHandle {
 public:
  using Destroy = CUresult(CUDAAPI*)(Handle);

  UniqueHandle() = default;
  UniqueHandle(Handle handle, Destroy destroy)
      : handle_(handle), destroy_(destroy) {}
  UniqueHandle(UniqueHandle&& other) noexcept
      : handle_(std::exchange(other.handle_, Handle{})),
        destroy_(other.destroy_) {}
  // The other is left with what this one had.
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(destroy_, other.destroy_);
    return *this;
  }
  ~UniqueHandle() { reset(); }

  // Destroys now what is owned; the handle is then empty.
  void reset() {
    const Handle handle = std::exchange(handle_, Handle{});
    if (handle == Handle{}) return;
    if (const CUresult result = destroy_(handle); result != CUDA_SUCCESS) {
      LogError(absl::StrCat("destroying a CUDA handle failed result=",
                            static_cast<int>(result)));
    }
  }

  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != Handle{}; }

 private:
  Handle handle_ = Handle{};
  Destroy destroy_ = nullptr;
};

using UniqueStream = UniqueHandle<CUstream>;
using UniqueEvent = UniqueHandle<CUevent>;
using UniqueModule = UniqueHandle<CUmodule>;
using UniqueGraph = UniqueHandle<CUgraph>;
using UniqueGraphExec = UniqueHandle<CUgraphExec>;
using UniqueDeviceMemory = UniqueHandle<CUdeviceptr>;  // of cuMemAlloc
using UniquePinnedMemory = UniqueHandle<void*>;        // of cuMemHostAlloc
using UniquePhysicalMemory = UniqueHandle<CUmemGenericAllocationHandle>;

// Owns a range of addresses: one that is reserved, or one that is mapped.
// Mappings are to die before the reservation that they lie in.
class UniqueRange {
 public:
  using Destroy = CUresult(CUDAAPI*)(CUdeviceptr, size_t);

  UniqueRange() = default;
  UniqueRange(CUdeviceptr address, size_t bytes, Destroy destroy)
      : address_(address), bytes_(bytes), destroy_(destroy) {}
  UniqueRange(UniqueRange&& other) noexcept
      : address_(std::exchange(other.address_, 0)),
        bytes_(std::exchange(other.bytes_, 0)),
        destroy_(other.destroy_) {}
  UniqueRange& operator=(UniqueRange&& other) noexcept {
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    std::swap(destroy_, other.destroy_);
    return *this;
  }
  ~UniqueRange() {
    if (address_ == 0) return;
    if (const CUresult result = destroy_(address_, bytes_);
        result != CUDA_SUCCESS) {
      LogError(absl::StrCat("freeing a range of GPU addresses failed result=",
                            static_cast<int>(result), " bytes=", bytes_));
    }
  }

  CUdeviceptr address() const { return address_; }
  size_t bytes() const { return bytes_; }
  explicit operator bool() const { return address_ != 0; }

 private:
  CUdeviceptr address_ = 0;
  size_t bytes_ = 0;
  Destroy destroy_ = nullptr;
};

}  // namespace reprise::cuda
