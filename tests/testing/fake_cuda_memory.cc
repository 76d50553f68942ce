// Device memory, page-locked memory, and address ranges with memory behind.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "tests/testing/fake_cuda_state.h"

namespace reprise::testing {
namespace {

constexpr size_t kAlignment = 512;  // of what cuMemAlloc gives
constexpr size_t kPage = 4096;

size_t RoundedUp(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

CUdeviceptr DeviceAddress(const void* host) {
  return static_cast<CUdeviceptr>(reinterpret_cast<uintptr_t>(host)) |
         kDeviceBit;
}

void* HostAddress(CUdeviceptr address) {
  return reinterpret_cast<void*>(address & ~kDeviceBit);
}

// Gone when nothing is mapped from it any more.
void DropPhysical(FakeCudaState& state, CUmemGenericAllocationHandle handle) {
  const auto it = state.physical.find(handle);
  if (it == state.physical.end()) return;
  if (!it->second.released || it->second.mappings > 0) return;
  close(it->second.file);
  state.used[static_cast<size_t>(it->second.device)] -= it->second.bytes;
  state.physical.erase(it);
}

}  // namespace

void FakeCudaState::FreeAll() {
  for (const auto& [address, memory] : device_memory) {
    std::free(HostAddress(address));
  }
  for (const auto& [address, bytes] : pinned) {
    std::free(reinterpret_cast<void*>(address));
  }
  for (const auto& [address, range] : reservations) {
    munmap(range.base, range.base_bytes);
  }
  for (const auto& [handle, memory] : physical) close(memory.file);
}

CUresult FakeMemAlloc(CUdeviceptr* address, size_t bytes) {
  return FakeCuda::Current().Call("MemAlloc", false, [&](FakeCudaState& state) {
    const CUcontext context = state.CurrentContext("MemAlloc");
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (!state.MayDoUnsafe("MemAlloc")) {
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (bytes == 0) {
      return state.Misuse(CUDA_ERROR_INVALID_VALUE, "MemAlloc: 0 bytes");
    }
    const int device = state.context_devices.at(context);
    if (bytes > state.FreeBytes(device)) return CUDA_ERROR_OUT_OF_MEMORY;
    void* host = nullptr;
    if (posix_memalign(&host, kAlignment, bytes) != 0) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *address = DeviceAddress(host);
    state.device_memory[*address] = FakeAllocation{device, bytes, context};
    state.used[static_cast<size_t>(device)] += bytes;
    return CUDA_SUCCESS;
  });
}

CUresult FakeMemFree(CUdeviceptr address) {
  return FakeCuda::Current().Call("MemFree", true, [&](FakeCudaState& state) {
    if (state.CurrentContext("MemFree") == nullptr) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (!state.MayDoUnsafe("MemFree")) {
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    const FakeAllocation* const found =
        state.Find(state.device_memory, address, "MemFree");
    if (found == nullptr) return CUDA_ERROR_INVALID_VALUE;
    state.used[static_cast<size_t>(found->device)] -= found->bytes;
    state.device_memory.erase(address);
    std::free(HostAddress(address));
    return CUDA_SUCCESS;
  });
}

CUresult FakeMemHostAlloc(void** host, size_t bytes, unsigned) {
  return FakeCuda::Current().Call(
      "MemHostAlloc", false, [&](FakeCudaState& state) {
        if (state.CurrentContext("MemHostAlloc") == nullptr) {
          return CUDA_ERROR_INVALID_CONTEXT;
        }
        if (!state.MayDoUnsafe("MemHostAlloc")) {
          return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
        if (bytes == 0) {
          return state.Misuse(CUDA_ERROR_INVALID_VALUE,
                              "MemHostAlloc: 0 bytes");
        }
        if (posix_memalign(host, kPage, bytes) != 0) {
          return CUDA_ERROR_OUT_OF_MEMORY;
        }
        state.pinned[reinterpret_cast<uintptr_t>(*host)] = bytes;
        return CUDA_SUCCESS;
      });
}

CUresult FakeMemFreeHost(void* host) {
  return FakeCuda::Current().Call(
      "MemFreeHost", true, [&](FakeCudaState& state) {
        if (!state.MayDoUnsafe("MemFreeHost")) {
          return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
        const auto key = reinterpret_cast<uintptr_t>(host);
        if (state.Find(state.pinned, key, "MemFreeHost") == nullptr) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        state.pinned.erase(key);
        std::free(host);
        return CUDA_SUCCESS;
      });
}

CUresult FakeMemGetAllocationGranularity(size_t* granularity,
                                         const CUmemAllocationProp*,
                                         CUmemAllocationGranularity_flags) {
  return FakeCuda::Current().Call("MemGetAllocationGranularity", false,
                                  [&](FakeCudaState&) {
                                    *granularity = kGranularity;
                                    return CUDA_SUCCESS;
                                  });
}

CUresult FakeMemAddressReserve(CUdeviceptr* address, size_t bytes, size_t,
                               CUdeviceptr, unsigned long long) {
  return FakeCuda::Current().Call(
      "MemAddressReserve", false, [&](FakeCudaState& state) {
        if (bytes == 0 || bytes % kGranularity != 0) {
          return state.Misuse(
              CUDA_ERROR_INVALID_VALUE,
              absl::StrCat("MemAddressReserve of ", bytes, " bytes"));
        }
        const size_t base_bytes = bytes + kGranularity;
        void* const base =
            mmap(nullptr, base_bytes, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
        const size_t aligned =
            RoundedUp(reinterpret_cast<uintptr_t>(base), kGranularity);
        *address = static_cast<CUdeviceptr>(aligned) | kDeviceBit;
        state.reservations[*address] = FakeReservation{bytes, base, base_bytes};
        return CUDA_SUCCESS;
      });
}

CUresult FakeMemAddressFree(CUdeviceptr address, size_t bytes) {
  return FakeCuda::Current().Call(
      "MemAddressFree", true, [&](FakeCudaState& state) {
        const FakeReservation* const found =
            state.Find(state.reservations, address, "MemAddressFree");
        if (found == nullptr || found->bytes != bytes) {
          return state.Misuse(CUDA_ERROR_INVALID_VALUE,
                              "MemAddressFree of no reservation");
        }
        const auto mapped = state.mappings.lower_bound(address);
        if (mapped != state.mappings.end() && mapped->first < address + bytes) {
          return state.Misuse(CUDA_ERROR_INVALID_VALUE,
                              "MemAddressFree of mapped addresses");
        }
        munmap(found->base, found->base_bytes);
        state.reservations.erase(address);
        return CUDA_SUCCESS;
      });
}

CUresult FakeMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                       const CUmemAllocationProp* prop, unsigned long long) {
  return FakeCuda::Current().Call(
      "MemCreate", false, [&](FakeCudaState& state) {
        const int device = prop->location.id;
        if (bytes == 0 || bytes % kGranularity != 0 || device < 0 ||
            static_cast<size_t>(device) >= state.gpus.size()) {
          return state.Misuse(CUDA_ERROR_INVALID_VALUE,
                              absl::StrCat("MemCreate of ", bytes, " bytes"));
        }
        if (bytes > state.FreeBytes(device)) return CUDA_ERROR_OUT_OF_MEMORY;
        const int file = memfd_create("fake_cuda", MFD_CLOEXEC);
        if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) {
          if (file >= 0) close(file);
          return CUDA_ERROR_OPERATING_SYSTEM;
        }
        *handle = state.NewHandle<CUmemGenericAllocationHandle>();
        state.physical[*handle] = FakePhysical{device, bytes, file, 0, false};
        state.used[static_cast<size_t>(device)] += bytes;
        return CUDA_SUCCESS;
      });
}

CUresult FakeMemRelease(CUmemGenericAllocationHandle handle) {
  return FakeCuda::Current().Call(
      "MemRelease", true, [&](FakeCudaState& state) {
        FakePhysical* const found =
            state.Find(state.physical, handle, "MemRelease");
        if (found == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (found->released) {
          return state.Misuse(CUDA_ERROR_INVALID_VALUE, "MemRelease twice");
        }
        found->released = true;
        DropPhysical(state, handle);
        return CUDA_SUCCESS;
      });
}

CUresult FakeMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                    CUmemGenericAllocationHandle handle, unsigned long long) {
  return FakeCuda::Current().Call("MemMap", false, [&](FakeCudaState& state) {
    FakePhysical* const found = state.Find(state.physical, handle, "MemMap");
    if (found == nullptr) return CUDA_ERROR_INVALID_VALUE;
    auto range = state.reservations.upper_bound(address);
    const bool reserved =
        range != state.reservations.begin() &&
        (--range, address + bytes <= range->first + range->second.bytes);
    auto next = state.mappings.lower_bound(address + 1);
    const bool overlaps =
        (next != state.mappings.end() && next->first < address + bytes) ||
        (next != state.mappings.begin() &&
         (--next, next->first + next->second.bytes > address));
    if (!reserved || overlaps || found->released || offset != 0 ||
        bytes != found->bytes || address % kGranularity != 0) {
      return state.Misuse(CUDA_ERROR_INVALID_VALUE,
                          absl::StrCat("MemMap of ", bytes, " bytes: not ",
                                       reserved ? "free" : "reserved"));
    }
    if (mmap(HostAddress(address), bytes, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED, found->file, 0) == MAP_FAILED) {
      return CUDA_ERROR_MAP_FAILED;
    }
    ++found->mappings;
    state.mappings[address] = FakeMapping{bytes, handle, false};
    return CUDA_SUCCESS;
  });
}

CUresult FakeMemUnmap(CUdeviceptr address, size_t bytes) {
  return FakeCuda::Current().Call("MemUnmap", true, [&](FakeCudaState& state) {
    const CUdeviceptr end = address + bytes;
    auto it = state.mappings.find(address);
    while (it != state.mappings.end() && it->first < end) {
      if (it->first + it->second.bytes > end) break;
      mmap(HostAddress(it->first), it->second.bytes, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
      --state.physical.at(it->second.physical).mappings;
      DropPhysical(state, it->second.physical);
      address += it->second.bytes;
      it = state.mappings.erase(it);
    }
    if (address == end) return CUDA_SUCCESS;
    return state.Misuse(CUDA_ERROR_INVALID_VALUE, "MemUnmap of no mapping");
  });
}

CUresult FakeMemSetAccess(CUdeviceptr address, size_t bytes,
                          const CUmemAccessDesc*, size_t) {
  return FakeCuda::Current().Call(
      "MemSetAccess", false, [&](FakeCudaState& state) {
        const CUdeviceptr end = address + bytes;
        for (auto it = state.mappings.find(address);
             it != state.mappings.end() && it->first == address &&
             address < end;
             ++it) {
          it->second.access = true;
          address += it->second.bytes;
        }
        if (address == end) return CUDA_SUCCESS;
        return state.Misuse(CUDA_ERROR_INVALID_VALUE,
                            "MemSetAccess of what is not mapped");
      });
}

}  // namespace reprise::testing
