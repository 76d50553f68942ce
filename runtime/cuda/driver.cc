#include "runtime/cuda/driver.h"

#include <dlfcn.h>

#include <iterator>
#include <optional>
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
  // Some codes are newer than the oldest header that this compiles with.
  switch (static_cast<int>(result)) {
    // Nothing was started, and nothing is lost.
    case CUDA_SUCCESS:
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_PROFILER_DISABLED:
    case CUDA_ERROR_PROFILER_NOT_INITIALIZED:
    case CUDA_ERROR_PROFILER_ALREADY_STARTED:
    case CUDA_ERROR_PROFILER_ALREADY_STOPPED:
    case CUDA_ERROR_INVALID_DEVICE:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_CONTEXT_ALREADY_CURRENT:
    case CUDA_ERROR_ARRAY_IS_MAPPED:
    case CUDA_ERROR_ALREADY_MAPPED:
    case CUDA_ERROR_ALREADY_ACQUIRED:
    case CUDA_ERROR_NOT_MAPPED:
    case CUDA_ERROR_NOT_MAPPED_AS_ARRAY:
    case CUDA_ERROR_NOT_MAPPED_AS_POINTER:
    case CUDA_ERROR_UNSUPPORTED_LIMIT:
    case CUDA_ERROR_CONTEXT_ALREADY_IN_USE:
    case CUDA_ERROR_PEER_ACCESS_UNSUPPORTED:
    case CUDA_ERROR_INVALID_GRAPHICS_CONTEXT:
    case CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY:
    case CUDA_ERROR_INVALID_HANDLE:
    case 402:  // LOSSY_QUERY
    case CUDA_ERROR_NOT_READY:
    case CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED:
    case CUDA_ERROR_PEER_ACCESS_NOT_ENABLED:
    case CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE:
    case CUDA_ERROR_TOO_MANY_PEERS:
    case CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED:
    case CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED:
    case CUDA_ERROR_TIMEOUT:
    case 914:  // INVALID_RESOURCE_TYPE
    case 915:  // INVALID_RESOURCE_CONFIGURATION
      return ErrorClass::kRequest;

    // What was being made cannot be made: no memory, no code, no capture.
    case CUDA_ERROR_OUT_OF_MEMORY:
    case CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_MAP_FAILED:
    case CUDA_ERROR_UNMAP_FAILED:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_JIT_COMPILATION_DISABLED:
    case CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_FILE_NOT_FOUND:
    case CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND:
    case CUDA_ERROR_SHARED_OBJECT_INIT_FAILED:
    case CUDA_ERROR_OPERATING_SYSTEM:
    case CUDA_ERROR_ILLEGAL_STATE:
    case CUDA_ERROR_NOT_FOUND:
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING:
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
    case CUDA_ERROR_NOT_PERMITTED:
    case CUDA_ERROR_NOT_SUPPORTED:
    case CUDA_ERROR_CDP_NOT_SUPPORTED:
    case CUDA_ERROR_CDP_VERSION_MISMATCH:
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
    case CUDA_ERROR_STREAM_CAPTURE_MERGE:
    case CUDA_ERROR_STREAM_CAPTURE_UNMATCHED:
    case CUDA_ERROR_STREAM_CAPTURE_UNJOINED:
    case CUDA_ERROR_STREAM_CAPTURE_ISOLATION:
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
    case CUDA_ERROR_CAPTURED_EVENT:
    case CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD:
    case CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE:
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
    case 913:  // FUNCTION_NOT_LOADED
      return ErrorClass::kRung;

    // The GPU or its context is gone; other GPUs' are not.
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_DEVICE_NOT_LICENSED:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case 916:  // KEY_ROTATION
      return ErrorClass::kContextFatal;

    // "The process must be terminated and relaunched", says the header of the
    // first eleven. The driver as a whole, or the MPS server, is not usable
    // for this process in the others.
    case 226:  // CONTAINED
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case 721:  // TENSOR_MEMORY_LEAK
    case CUDA_ERROR_EXTERNAL_DEVICE:
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    case CUDA_ERROR_MPS_CONNECTION_FAILED:
    case CUDA_ERROR_MPS_RPC_FAILURE:
    case CUDA_ERROR_MPS_SERVER_NOT_READY:
    case CUDA_ERROR_MPS_MAX_CLIENTS_REACHED:
    case CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED:
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:
    case CUDA_ERROR_UNKNOWN:
    default:
      // A code that this table does not know may be the newest way to say
      // "terminate and relaunch". A needless restart costs seconds; going on
      // may answer calls with garbage.
      return ErrorClass::kProcessFatal;
  }
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
