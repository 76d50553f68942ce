#include "runtime/cuda/driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/device/fault.h"

namespace reprise::cuda {
namespace {

constexpr char kLibrary[] = "libcuda.so.1";
constexpr int kOldestVersion = 12040;
constexpr char kClassUrl[] = "reprise/cuda-error-class";

// The name that cuda.h's macros make of a function's: "cuMemAlloc_v2".
#define REPRISE_STRING_INNER(text) #text
#define REPRISE_STRING(text) REPRISE_STRING_INNER(text)

// What an operator can do about it, where the driver's own text does not say.
absl::string_view Hint(CUresult result) {
  switch (result) {
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
      return "the legacy default stream was used during a capture";
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
      return "the code is newer than the driver";
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
      return "this build has no code for the GPU's compute capability";
    case CUDA_ERROR_SYSTEM_NOT_READY:
      return "on NVSwitch machines: is the fabric manager running?";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
      return "the kernel module and libcuda are of different versions";
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
      return "remove the forward-compatibility libcuda from the search path";
    default:
      return "";
  }
}

absl::StatusCode CodeOf(CUresult result) {
  switch (ClassOf(result)) {
    case ErrorClass::kContextFatal:
    case ErrorClass::kProcessFatal:
      return absl::StatusCode::kUnavailable;
    case ErrorClass::kRequest:
    case ErrorClass::kRung:
      break;
  }
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    return absl::StatusCode::kResourceExhausted;
  }
  const bool capture = result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
                       result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  const bool code = result == CUDA_ERROR_NO_BINARY_FOR_GPU ||
                    result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  return capture || code ? absl::StatusCode::kFailedPrecondition
                         : absl::StatusCode::kInternal;
}

// "; the driver is for CUDA 12.2", or "" where it does not say.
std::string ReportedVersion(FindSymbol find) {
  const auto get = reinterpret_cast<decltype(&::cuDriverGetVersion)>(
      find("cuDriverGetVersion"));
  int version = 0;
  if (get == nullptr || get(&version) != CUDA_SUCCESS) return "";
  return absl::StrCat("; the driver is for CUDA ", VersionText(version));
}

absl::Status TooOld(absl::string_view why, FindSymbol find) {
  return absl::NotFoundError(
      absl::StrCat(kLibrary, ": ", why, ReportedVersion(find), ", and CUDA ",
                   VersionText(kOldestVersion), " or newer is needed"));
}

// Nothing was started, and nothing is lost. Codes that are newer than the
// oldest header that this compiles with are numbers, here and below.
constexpr int kRequestResults[] = {
    CUDA_SUCCESS,
    CUDA_ERROR_INVALID_VALUE,
    CUDA_ERROR_PROFILER_DISABLED,
    CUDA_ERROR_PROFILER_NOT_INITIALIZED,
    CUDA_ERROR_PROFILER_ALREADY_STARTED,
    CUDA_ERROR_PROFILER_ALREADY_STOPPED,
    CUDA_ERROR_INVALID_DEVICE,
    CUDA_ERROR_INVALID_CONTEXT,
    CUDA_ERROR_CONTEXT_ALREADY_CURRENT,
    CUDA_ERROR_ARRAY_IS_MAPPED,
    CUDA_ERROR_ALREADY_MAPPED,
    CUDA_ERROR_ALREADY_ACQUIRED,
    CUDA_ERROR_NOT_MAPPED,
    CUDA_ERROR_NOT_MAPPED_AS_ARRAY,
    CUDA_ERROR_NOT_MAPPED_AS_POINTER,
    CUDA_ERROR_UNSUPPORTED_LIMIT,
    CUDA_ERROR_CONTEXT_ALREADY_IN_USE,
    CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
    CUDA_ERROR_INVALID_GRAPHICS_CONTEXT,
    CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
    CUDA_ERROR_INVALID_HANDLE,
    402,  // LOSSY_QUERY
    CUDA_ERROR_NOT_READY,
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
    CUDA_ERROR_PEER_ACCESS_NOT_ENABLED,
    CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE,
    CUDA_ERROR_TOO_MANY_PEERS,
    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
    CUDA_ERROR_TIMEOUT,
    914,  // INVALID_RESOURCE_TYPE
    915,  // INVALID_RESOURCE_CONFIGURATION
};

// What was being made cannot be made: no memory, no code, no capture.
constexpr int kRungResults[] = {
    CUDA_ERROR_OUT_OF_MEMORY,
    CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER,
    CUDA_ERROR_INVALID_IMAGE,
    CUDA_ERROR_MAP_FAILED,
    CUDA_ERROR_UNMAP_FAILED,
    CUDA_ERROR_NO_BINARY_FOR_GPU,
    CUDA_ERROR_INVALID_PTX,
    CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
    CUDA_ERROR_JIT_COMPILATION_DISABLED,
    CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC,
    CUDA_ERROR_INVALID_SOURCE,
    CUDA_ERROR_FILE_NOT_FOUND,
    CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND,
    CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
    CUDA_ERROR_OPERATING_SYSTEM,
    CUDA_ERROR_ILLEGAL_STATE,
    CUDA_ERROR_NOT_FOUND,
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
    CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING,
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
    CUDA_ERROR_NOT_PERMITTED,
    CUDA_ERROR_NOT_SUPPORTED,
    CUDA_ERROR_CDP_NOT_SUPPORTED,
    CUDA_ERROR_CDP_VERSION_MISMATCH,
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
    CUDA_ERROR_STREAM_CAPTURE_MERGE,
    CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
    CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
    CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
    CUDA_ERROR_CAPTURED_EVENT,
    CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
    CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
    CUDA_ERROR_INVALID_CLUSTER_SIZE,
    913,  // FUNCTION_NOT_LOADED
};

// The GPU or its context is gone; other GPUs' are not.
constexpr int kContextResults[] = {
    CUDA_ERROR_DEVICE_UNAVAILABLE,
    CUDA_ERROR_NO_DEVICE,
    CUDA_ERROR_DEVICE_NOT_LICENSED,
    CUDA_ERROR_ECC_UNCORRECTABLE,
    CUDA_ERROR_NVLINK_UNCORRECTABLE,
    CUDA_ERROR_CONTEXT_IS_DESTROYED,
    CUDA_ERROR_ASSERT,
    916,  // KEY_ROTATION
};

// The function of that name; `missing` becomes the name of the first that there
// is not.
void* Find(FindSymbol find, const char* name, const char*& missing) {
  void* function = find(name);
  // Headers from 12.8 on name a second version, which takes the same and does
  // not report errors of pending work; nobody here asks it for those.
  if (function == nullptr &&
      absl::string_view(name) == "cuEventElapsedTime_v2") {
    function = find("cuEventElapsedTime");
  }
  if (function == nullptr && missing == nullptr) missing = name;
  return function;
}

}  // namespace

ErrorClass ClassOf(CUresult result) {
  const auto is_one_of = [result](std::span<const int> results) {
    return std::find(results.begin(), results.end(),
                     static_cast<int>(result)) != results.end();
  };
  if (is_one_of(kRequestResults)) return ErrorClass::kRequest;
  if (is_one_of(kRungResults)) return ErrorClass::kRung;
  if (is_one_of(kContextResults)) return ErrorClass::kContextFatal;
  // Of the others the header says that the process must be terminated and
  // relaunched (700, 702, 714 to 719 and their like), or the driver as a whole,
  // or the MPS server, cannot be used by this process. A code that no table
  // knows may be the newest way to say the same: a needless restart costs
  // seconds, and going on may answer calls with garbage.
  return ErrorClass::kProcessFatal;
}

absl::string_view ErrorClassName(ErrorClass error) {
  switch (error) {
    case ErrorClass::kRequest:
      return "request";
    case ErrorClass::kRung:
      return "rung";
    case ErrorClass::kContextFatal:
      return "context-fatal";
    case ErrorClass::kProcessFatal:
      return "process-fatal";
  }
  return "unknown";
}

void SetErrorClass(absl::Status& status, ErrorClass error) {
  status.SetPayload(kClassUrl, absl::Cord(ErrorClassName(error)));
  if (error == ErrorClass::kContextFatal ||
      error == ErrorClass::kProcessFatal) {
    status = AsDeviceFault(std::move(status));
  }
}

std::optional<ErrorClass> ErrorClassOf(const absl::Status& status) {
  const auto name = status.GetPayload(kClassUrl);
  if (!name.has_value()) return std::nullopt;
  for (const ErrorClass error :
       {ErrorClass::kRequest, ErrorClass::kRung, ErrorClass::kContextFatal,
        ErrorClass::kProcessFatal}) {
    if (*name == ErrorClassName(error)) return error;
  }
  return std::nullopt;
}

absl::Status ToStatus(const Driver& driver, CUresult result,
                      absl::string_view what) {
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  const char* name = nullptr;
  const char* description = nullptr;
  if (driver.GetErrorName == nullptr ||
      driver.GetErrorName(result, &name) != CUDA_SUCCESS || name == nullptr) {
    name = "unknown CUDA error";
  }
  std::string text =
      absl::StrCat(what, ": ", name, " (", static_cast<int>(result), ")");
  if (driver.GetErrorString != nullptr &&
      driver.GetErrorString(result, &description) == CUDA_SUCCESS &&
      description != nullptr) {
    absl::StrAppend(&text, ": ", description);
  }
  if (const absl::string_view hint = Hint(result); !hint.empty()) {
    absl::StrAppend(&text, " (", hint, ")");
  }
  absl::Status status(CodeOf(result), text);
  SetErrorClass(status, ClassOf(result));
  return status;
}

absl::StatusOr<Driver> FillDriver(FindSymbol find) {
  Driver driver;
  const char* missing = nullptr;
#define REPRISE_CUDA_FIND(name)                          \
  driver.name = reinterpret_cast<decltype(driver.name)>( \
      Find(find, REPRISE_STRING(cu##name), missing));
  REPRISE_CUDA_FUNCTIONS(REPRISE_CUDA_FIND)
#undef REPRISE_CUDA_FIND
  if (missing != nullptr) {
    return TooOld(absl::StrCat("no function ", missing), find);
  }
  int version = 0;
  if (const CUresult result = driver.DriverGetVersion(&version);
      result != CUDA_SUCCESS) {
    return ToStatus(driver, result, "asking the CUDA driver for its version");
  }
  if (version < kOldestVersion) return TooOld("too old", find);
  return driver;
}

absl::StatusOr<Driver> LoadDriver() {
  // Never closed: the driver's threads and exit handlers outlive any owner.
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    return absl::NotFoundError(
        absl::StrCat("no CUDA driver: ", why != nullptr ? why : kLibrary));
  }
  return FillDriver(
      [library](const char* name) { return dlsym(library, name); });
}

std::string VersionText(int version) {
  return absl::StrCat(version / 1000, ".", version % 1000 / 10);
}

}  // namespace reprise::cuda
