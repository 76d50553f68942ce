#include "runtime/cuda/nvml_sensors.h"

#include <array>
#include <cstddef>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"

namespace reprise::cuda {
namespace {

// XIDs that are looked at in one reading: a GPU that says more goes on with
// them in the next.
constexpr int kMostEvents = 32;

}  // namespace

absl::StatusOr<std::unique_ptr<NvmlSensors>> NvmlSensors::Open(
    const Nvml& nvml, const std::string& uuid) {
  NvmlDevice device = nullptr;
  REPRISE_RETURN_IF_ERROR(
      ToStatus(nvml, nvml.DeviceGetHandleByUUID(uuid.c_str(), &device),
               absl::StrCat("looking for ", uuid)));
  return absl::WrapUnique(new NvmlSensors(nvml, uuid, device));
}

NvmlSensors::NvmlSensors(const Nvml& nvml, std::string uuid, NvmlDevice device)
    : nvml_(nvml), uuid_(std::move(uuid)), device_(device) {
  if (nvml.EventSetCreate == nullptr || nvml.EventSetFree == nullptr ||
      nvml.EventSetWait_v2 == nullptr || nvml.DeviceRegisterEvents == nullptr ||
      nvml.EventSetCreate(&events_) != kNvmlSuccess) {
    events_ = nullptr;
    return;
  }
  if (nvml.DeviceRegisterEvents(device, kNvmlXidEvent, events_) ==
      kNvmlSuccess) {
    return;
  }
  nvml.EventSetFree(events_);
  events_ = nullptr;
}

NvmlSensors::~NvmlSensors() {
  if (events_ != nullptr) nvml_.EventSetFree(events_);
}

SensorReading NvmlSensors::Read() {
  SensorReading reading;
  reading.energy_joules = Energy();
  reading.memory = Memory();
  reading.sm_clock_hertz = SmClock();
  reading.clock_limits = Limits();
  reading.ecc_errors = EccErrors();
  reading.xids = Xids();
  return reading;
}

std::optional<double> NvmlSensors::Energy() const {
  uint64_t millijoules = 0;
  if (nvml_.DeviceGetTotalEnergyConsumption == nullptr ||
      nvml_.DeviceGetTotalEnergyConsumption(device_, &millijoules) !=
          kNvmlSuccess) {
    return std::nullopt;
  }
  return static_cast<double>(millijoules) * 1e-3;
}

std::optional<SensorMemory> NvmlSensors::Memory() const {
  NvmlMemory memory{};
  if (nvml_.DeviceGetMemoryInfo(device_, &memory) != kNvmlSuccess) {
    return std::nullopt;
  }
  return SensorMemory{.used = static_cast<int64_t>(memory.used),
                      .free = static_cast<int64_t>(memory.free),
                      .total = static_cast<int64_t>(memory.total)};
}

std::optional<double> NvmlSensors::SmClock() const {
  unsigned megahertz = 0;
  if (nvml_.DeviceGetClockInfo == nullptr ||
      nvml_.DeviceGetClockInfo(device_, kNvmlClockSm, &megahertz) !=
          kNvmlSuccess) {
    return std::nullopt;
  }
  return megahertz * 1e6;
}

std::optional<std::array<bool, kClockLimits>> NvmlSensors::Limits() const {
  uint64_t reasons = 0;
  if (nvml_.DeviceGetCurrentClocksThrottleReasons == nullptr ||
      nvml_.DeviceGetCurrentClocksThrottleReasons(device_, &reasons) !=
          kNvmlSuccess) {
    return std::nullopt;
  }
  std::array<bool, kClockLimits> limits{};
  const auto set = [&](ClockLimit limit, uint64_t mask) {
    limits[static_cast<size_t>(limit)] = (reasons & mask) != 0;
  };
  set(ClockLimit::kPowerCap, kNvmlPowerCap);
  set(ClockLimit::kThermal,
      kNvmlThermalSlowdown | kNvmlHardwareThermalSlowdown);
  set(ClockLimit::kPowerBrake, kNvmlPowerBrake);
  set(ClockLimit::kHardware, kNvmlHardwareSlowdown);
  return limits;
}

std::optional<int64_t> NvmlSensors::EccErrors() const {
  uint64_t count = 0;
  if (nvml_.DeviceGetTotalEccErrors == nullptr ||
      nvml_.DeviceGetTotalEccErrors(device_, kNvmlUncorrected, kNvmlVolatile,
                                    &count) != kNvmlSuccess) {
    return std::nullopt;
  }
  return static_cast<int64_t>(count);
}

std::optional<int64_t> NvmlSensors::Xids() {
  if (events_ == nullptr) return std::nullopt;
  for (int i = 0; i < kMostEvents; ++i) {
    NvmlEvent event{};
    if (nvml_.EventSetWait_v2(events_, &event, 0) != kNvmlSuccess) break;
    if ((event.type & kNvmlXidEvent) == 0) continue;
    ++xids_;
    LogError(absl::StrCat("the driver reports an error of a GPU gpu=", uuid_,
                          " xid=", event.data));
  }
  return xids_;
}

}  // namespace reprise::cuda
