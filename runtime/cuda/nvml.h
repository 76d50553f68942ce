// The door to NVML, the driver's library of management: what is used of it,
// looked up in libnvidia-ml.so.1 at run time.
#pragma once

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace reprise::cuda {

// The library's types, by the reference of its API: its header does not come
// with the toolkit's compiler, and its ABI is kept from one version to the
// next.
using NvmlDevice = struct NvmlDeviceObject*;
using NvmlEventSet = struct NvmlEventSetObject*;

enum NvmlReturn : int {
  kNvmlSuccess = 0,
  kNvmlInvalidArgument = 2,
  kNvmlNotSupported = 3,
  kNvmlNotFound = 6,
  kNvmlTimeout = 10,
};

struct NvmlMemory {
  uint64_t total;  // bytes
  uint64_t free;
  uint64_t used;
};

struct NvmlEvent {
  NvmlDevice device;
  uint64_t type;
  uint64_t data;  // of an XID its number
  unsigned gpu_instance;
  unsigned compute_instance;
};

enum NvmlClock : int { kNvmlClockSm = 1 };
enum NvmlEccError : int { kNvmlUncorrected = 1 };
enum NvmlEccCounter : int { kNvmlVolatile = 0 };

inline constexpr uint64_t kNvmlXidEvent = 0x8;

// Why clocks are low.
inline constexpr uint64_t kNvmlPowerCap = 0x04;
inline constexpr uint64_t kNvmlHardwareSlowdown = 0x08;
inline constexpr uint64_t kNvmlThermalSlowdown = 0x20;
inline constexpr uint64_t kNvmlHardwareThermalSlowdown = 0x40;
inline constexpr uint64_t kNvmlPowerBrake = 0x80;

// The functions, without their "nvml": name, and parameters. Without one of the
// first group the library is of no use.
#define REPRISE_NVML_NEEDED(F)                                     \
  F(Init_v2, ())                                                   \
  F(DeviceGetHandleByUUID, (const char* uuid, NvmlDevice* device)) \
  F(DeviceGetMemoryInfo, (NvmlDevice, NvmlMemory*))
#define REPRISE_NVML_OPTIONAL(F)                                             \
  F(DeviceGetTotalEnergyConsumption, (NvmlDevice, uint64_t * millijoules))   \
  F(DeviceGetClockInfo, (NvmlDevice, NvmlClock, unsigned* megahertz))        \
  F(DeviceGetCurrentClocksThrottleReasons, (NvmlDevice, uint64_t * reasons)) \
  F(DeviceGetTotalEccErrors,                                                 \
    (NvmlDevice, NvmlEccError, NvmlEccCounter, uint64_t * count))            \
  F(EventSetCreate, (NvmlEventSet*))                                         \
  F(EventSetFree, (NvmlEventSet))                                            \
  F(EventSetWait_v2, (NvmlEventSet, NvmlEvent*, unsigned milliseconds))      \
  F(DeviceRegisterEvents, (NvmlDevice, uint64_t types, NvmlEventSet))

// Threads: constant once filled; the functions may be called from any.
struct Nvml {
#define REPRISE_NVML_MEMBER(name, parameters) \
  NvmlReturn(*name) parameters = nullptr;
  REPRISE_NVML_NEEDED(REPRISE_NVML_MEMBER)
  REPRISE_NVML_OPTIONAL(REPRISE_NVML_MEMBER)
#undef REPRISE_NVML_MEMBER
  const char* (*ErrorString)(NvmlReturn) = nullptr;  // null: no descriptions
};

// Opens and starts the library, which takes some milliseconds. NOT_FOUND: there
// is none, or it is too old; UNAVAILABLE: it does not start. It stays open for
// the life of the process.
absl::StatusOr<Nvml> LoadNvml();

// The same from any library: the address of a function by its name, or null.
absl::StatusOr<Nvml> StartNvml(absl::FunctionRef<void*(const char* name)> find);

// OK, or UNAVAILABLE with the text "what: description (number)"; NOT_FOUND for
// a device that there is not, UNIMPLEMENTED for what it does not have.
absl::Status ToStatus(const Nvml& nvml, NvmlReturn result,
                      absl::string_view what);

}  // namespace reprise::cuda
