// The door to the CUDA driver: every function that Reprise calls, looked up in
// libcuda.so.1 at run time. Nothing links it, so that one binary also runs
// where there is no GPU, and tests pass a table of their own.
#pragma once

#include <cuda.h>

#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

// The functions, without their "cu". cuda.h's macros give each the version that
// the header's prototype has.
#define REPRISE_CUDA_FUNCTIONS(F) \
  F(Init)                         \
  F(DriverGetVersion)             \
  F(GetErrorName)                 \
  F(GetErrorString)               \
  F(DeviceGetCount)               \
  F(DeviceGet)                    \
  F(DeviceGetName)                \
  F(DeviceGetUuid)                \
  F(DeviceGetAttribute)           \
  F(DeviceTotalMem)               \
  F(DevicePrimaryCtxRetain)       \
  F(DevicePrimaryCtxRelease)      \
  F(DevicePrimaryCtxSetFlags)     \
  F(CtxSetCurrent)                \
  F(CtxGetCurrent)                \
  F(MemGetInfo)                   \
  F(MemAlloc)                     \
  F(MemFree)                      \
  F(MemHostAlloc)                 \
  F(MemFreeHost)                  \
  F(MemAddressReserve)            \
  F(MemAddressFree)               \
  F(MemCreate)                    \
  F(MemRelease)                   \
  F(MemMap)                       \
  F(MemUnmap)                     \
  F(MemSetAccess)                 \
  F(MemGetAllocationGranularity)  \
  F(MemcpyHtoDAsync)              \
  F(MemcpyDtoHAsync)              \
  F(MemcpyDtoDAsync)              \
  F(MemsetD8Async)                \
  F(StreamCreateWithPriority)     \
  F(StreamDestroy)                \
  F(StreamGetFlags)               \
  F(StreamSynchronize)            \
  F(StreamQuery)                  \
  F(StreamWaitEvent)              \
  F(StreamBeginCapture)           \
  F(StreamEndCapture)             \
  F(EventCreate)                  \
  F(EventDestroy)                 \
  F(EventRecord)                  \
  F(EventQuery)                   \
  F(EventElapsedTime)             \
  F(ModuleLoadData)               \
  F(ModuleUnload)                 \
  F(ModuleGetFunctionCount)       \
  F(ModuleEnumerateFunctions)     \
  F(FuncGetName)                  \
  F(FuncLoad)                     \
  F(FuncGetAttribute)             \
  F(FuncSetAttribute)             \
  F(LaunchKernelEx)               \
  F(GraphInstantiateWithParams)   \
  F(GraphGetNodes)                \
  F(GraphNodeGetType)             \
  F(GraphUpload)                  \
  F(GraphLaunch)                  \
  F(GraphDestroy)                 \
  F(GraphExecDestroy)

namespace reprise::cuda {

// Threads: constant once filled; the functions are the driver's, and as safe as
// it makes them.
struct Driver {
#define REPRISE_CUDA_MEMBER(name) decltype(&::cu##name) name = nullptr;
  REPRISE_CUDA_FUNCTIONS(REPRISE_CUDA_MEMBER)
#undef REPRISE_CUDA_MEMBER
};

// How far an error reaches (cuda-graphs.md has the table with its sources).
enum class ErrorClass {
  kRequest,       // this call alone: bad arguments of ours, nothing is lost
  kRung,          // what was being prepared: capture failed, out of memory
  kContextFatal,  // this GPU is lost to the process
  kProcessFatal,  // the process must be started anew
};
ErrorClass ClassOf(CUresult result);
absl::string_view ErrorClassName(ErrorClass error);

// OK, or an error of the text "what: CUDA_ERROR_NAME (number): description":
// RESOURCE_EXHAUSTED for memory, UNAVAILABLE for what is fatal, and marked so;
// FAILED_PRECONDITION for captures, and for code that was made for other GPUs
// or newer drivers; INTERNAL else.
absl::Status ToStatus(const Driver& driver, CUresult result,
                      absl::string_view what);

// The class as a mark on a status, which Annotate keeps; none: it came from no
// CUDA call. With the two last ones it IsDeviceFault (device/fault.h). For the
// other doors, whose libraries have codes of their own.
void SetErrorClass(absl::Status& status, ErrorClass error);
std::optional<ErrorClass> ErrorClassOf(const absl::Status& status);

// Opens libcuda.so.1 and fills the table. NOT_FOUND: there is none, or it is
// older than CUDA 12.4 (which function is missing, and the version it has).
// The library stays open for the life of the process.
absl::StatusOr<Driver> LoadDriver();

// The same from any library: the address of a function by the name that it is
// exported under, or null.
using FindSymbol = absl::FunctionRef<void*(const char* name)>;
absl::StatusOr<Driver> FillDriver(FindSymbol find);

// "12.4" of cuDriverGetVersion's 12040.
std::string VersionText(int version);

}  // namespace reprise::cuda
