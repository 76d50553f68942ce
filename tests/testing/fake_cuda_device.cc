// GPUs, contexts, and the names of errors.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "tests/testing/fake_cuda_state.h"

namespace reprise::testing {
namespace {

struct ErrorText {
  CUresult result;
  const char* name;
  const char* description;
};
constexpr ErrorText kErrors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE",
     "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE",
     "invalid device ordinal"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT",
     "invalid device context"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {CUDA_ERROR_ECC_UNCORRECTABLE, "CUDA_ERROR_ECC_UNCORRECTABLE",
     "uncorrectable ECC error encountered"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE",
     "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {CUDA_ERROR_ASSERT, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED",
     "unspecified launch failure"},
    {CUDA_ERROR_SYSTEM_NOT_READY, "CUDA_ERROR_SYSTEM_NOT_READY",
     "system not yet initialized"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
     "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
     "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
};

const ErrorText* FindError(CUresult result) {
  const auto* const found =
      std::find_if(std::begin(kErrors), std::end(kErrors),
                   [&](const ErrorText& e) { return e.result == result; });
  return found != std::end(kErrors) ? found : nullptr;
}

CUresult CheckDevice(FakeCudaState& state, CUdevice device, const char* what) {
  if (!state.initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (device >= 0 && static_cast<size_t>(device) < state.gpus.size()) {
    return CUDA_SUCCESS;
  }
  return state.Misuse(CUDA_ERROR_INVALID_DEVICE,
                      absl::StrCat(what, ": no device ", device));
}

int Attribute(const FakeGpu& gpu, CUdevice_attribute attribute, CUdevice device,
              bool& known) {
  known = true;
  if (const auto it = gpu.attributes.find(attribute);
      it != gpu.attributes.end()) {
    return it->second;
  }
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return gpu.major;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return gpu.minor;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return 132;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      return device + 1;
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
    case CU_DEVICE_ATTRIBUTE_INTEGRATED:
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
      return 0;
    case CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID:
      return -1;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return 2048;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return 48 << 10;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return 227 << 10;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return 50 << 20;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      return 1980000;
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
      return 1;
    default:
      known = false;
      return 0;
  }
}

}  // namespace

CUresult FakeInit(unsigned flags) {
  return FakeCuda::Current().Call("Init", false, [&](FakeCudaState& state) {
    if (flags != 0)
      return state.Misuse(CUDA_ERROR_INVALID_VALUE, "Init: flags");
    if (state.gpus.empty()) return CUDA_ERROR_NO_DEVICE;
    state.initialised = true;
    return CUDA_SUCCESS;
  });
}

CUresult FakeDriverGetVersion(int* version) {
  return FakeCuda::Current().Call("DriverGetVersion", false,
                                  [&](FakeCudaState&) {
                                    *version = 13000;
                                    return CUDA_SUCCESS;
                                  });
}

CUresult FakeGetErrorName(CUresult error, const char** text) {
  const ErrorText* const found = FindError(error);
  *text = found != nullptr ? found->name : "CUDA_ERROR_OTHER";
  return CUDA_SUCCESS;
}

CUresult FakeGetErrorString(CUresult error, const char** text) {
  const ErrorText* const found = FindError(error);
  *text = found != nullptr ? found->description : "some other error";
  return CUDA_SUCCESS;
}

CUresult FakeDeviceGetCount(int* count) {
  return FakeCuda::Current().Call(
      "DeviceGetCount", false, [&](FakeCudaState& state) {
        if (!state.initialised) return CUDA_ERROR_NOT_INITIALIZED;
        *count = static_cast<int>(state.gpus.size());
        return CUDA_SUCCESS;
      });
}

CUresult FakeDeviceGet(CUdevice* device, int ordinal) {
  return FakeCuda::Current().Call(
      "DeviceGet", false, [&](FakeCudaState& state) {
        *device = ordinal;
        return CheckDevice(state, ordinal, "DeviceGet");
      });
}

CUresult FakeDeviceGetName(char* name, int length, CUdevice device) {
  return FakeCuda::Current().Call(
      "DeviceGetName", false, [&](FakeCudaState& state) {
        const CUresult result = CheckDevice(state, device, "DeviceGetName");
        if (result != CUDA_SUCCESS || length < 1) return result;
        const std::string& text = state.gpus[static_cast<size_t>(device)].name;
        const size_t size =
            std::min(text.size(), static_cast<size_t>(length) - 1);
        std::memcpy(name, text.data(), size);
        name[size] = '\0';
        return CUDA_SUCCESS;
      });
}

CUresult FakeDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return FakeCuda::Current().Call(
      "DeviceGetUuid", false, [&](FakeCudaState& state) {
        const CUresult result = CheckDevice(state, device, "DeviceGetUuid");
        if (result != CUDA_SUCCESS) return result;
        const FakeGpu& gpu = state.gpus[static_cast<size_t>(device)];
        std::memcpy(uuid->bytes, gpu.uuid.data(), gpu.uuid.size());
        return CUDA_SUCCESS;
      });
}

CUresult FakeDeviceGetAttribute(int* value, CUdevice_attribute attribute,
                                CUdevice device) {
  return FakeCuda::Current().Call(
      "DeviceGetAttribute", false, [&](FakeCudaState& state) {
        const CUresult result =
            CheckDevice(state, device, "DeviceGetAttribute");
        if (result != CUDA_SUCCESS) return result;
        bool known = false;
        *value = Attribute(state.gpus[static_cast<size_t>(device)], attribute,
                           device, known);
        if (known) return CUDA_SUCCESS;
        return state.Misuse(
            CUDA_ERROR_INVALID_VALUE,
            absl::StrCat("DeviceGetAttribute: the fake has no attribute ",
                         static_cast<int>(attribute)));
      });
}

CUresult FakeDeviceTotalMem(size_t* bytes, CUdevice device) {
  return FakeCuda::Current().Call(
      "DeviceTotalMem", false, [&](FakeCudaState& state) {
        const CUresult result = CheckDevice(state, device, "DeviceTotalMem");
        if (result != CUDA_SUCCESS) return result;
        *bytes = state.gpus[static_cast<size_t>(device)].total_memory;
        return CUDA_SUCCESS;
      });
}

CUresult FakeDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return FakeCuda::Current().Call(
      "DevicePrimaryCtxRetain", false, [&](FakeCudaState& state) {
        const CUresult result =
            CheckDevice(state, device, "DevicePrimaryCtxRetain");
        if (result != CUDA_SUCCESS) return result;
        FakeContext& primary = state.contexts[static_cast<size_t>(device)];
        if (primary.error != CUDA_SUCCESS) return primary.error;
        ++primary.retained;
        for (const auto& [handle, ordinal] : state.context_devices) {
          if (ordinal == device) {
            *context = handle;
            return CUDA_SUCCESS;
          }
        }
        *context = state.NewHandle<CUcontext>();
        state.context_devices[*context] = device;
        return CUDA_SUCCESS;
      });
}

CUresult FakeDevicePrimaryCtxRelease(CUdevice device) {
  return FakeCuda::Current().Call(
      "DevicePrimaryCtxRelease", true, [&](FakeCudaState& state) {
        const CUresult result =
            CheckDevice(state, device, "DevicePrimaryCtxRelease");
        if (result != CUDA_SUCCESS) return result;
        FakeContext& primary = state.contexts[static_cast<size_t>(device)];
        if (primary.retained == 0) {
          return state.Misuse(CUDA_ERROR_INVALID_CONTEXT,
                              "DevicePrimaryCtxRelease: not retained");
        }
        if (--primary.retained > 0) return CUDA_SUCCESS;
        const auto here = [&](const auto& entry) {
          return state.context_devices.at(entry.second.context) == device;
        };
        if (std::any_of(state.streams.begin(), state.streams.end(), here) ||
            std::any_of(state.events.begin(), state.events.end(), here) ||
            std::any_of(state.modules.begin(), state.modules.end(), here) ||
            std::any_of(state.execs.begin(), state.execs.end(), here) ||
            std::any_of(state.device_memory.begin(), state.device_memory.end(),
                        here)) {
          state.misuses.push_back("a context ends before what was made in it");
        }
        return CUDA_SUCCESS;
      });
}

CUresult FakeDevicePrimaryCtxSetFlags(CUdevice device, unsigned) {
  return FakeCuda::Current().Call(
      "DevicePrimaryCtxSetFlags", false, [&](FakeCudaState& state) {
        return CheckDevice(state, device, "DevicePrimaryCtxSetFlags");
      });
}

CUresult FakeCtxSetCurrent(CUcontext context) {
  return FakeCuda::Current().Call(
      "CtxSetCurrent", true, [&](FakeCudaState& state) {
        if (state.failing && context != nullptr) return CUDA_SUCCESS;
        if (context != nullptr && !state.context_devices.contains(context)) {
          return state.Misuse(CUDA_ERROR_INVALID_CONTEXT,
                              "CtxSetCurrent: unknown context");
        }
        state.current[FakeThread()] = context;
        return CUDA_SUCCESS;
      });
}

CUresult FakeCtxGetCurrent(CUcontext* context) {
  return FakeCuda::Current().Call(
      "CtxGetCurrent", false, [&](FakeCudaState& state) {
        const auto it = state.current.find(FakeThread());
        *context = it != state.current.end() ? it->second : nullptr;
        return CUDA_SUCCESS;
      });
}

CUresult FakeMemGetInfo(size_t* free, size_t* total) {
  return FakeCuda::Current().Call(
      "MemGetInfo", false, [&](FakeCudaState& state) {
        const CUcontext context = state.CurrentContext("MemGetInfo");
        if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
        const int device = state.context_devices.at(context);
        *free = state.FreeBytes(device);
        *total = state.gpus[static_cast<size_t>(device)].total_memory;
        return CUDA_SUCCESS;
      });
}

}  // namespace reprise::testing
