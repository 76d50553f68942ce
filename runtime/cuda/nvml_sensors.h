// The sensors of one GPU, or of a slice of one, by NVML.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/cuda/nvml.h"
#include "runtime/device/sensors.h"

namespace reprise::cuda {

// A slice has few of the figures; energy, clocks and errors are of the whole
// GPU, and absent. What NVML does not answer once may be there the next time.
//
// Threads: as Sensors.
class NvmlSensors final : public Sensors {
 public:
  // `uuid` is "GPU-..." or "MIG-...", as the driver has it (GpuInfo). `nvml`
  // outlives it. NOT_FOUND: NVML does not know it.
  static absl::StatusOr<std::unique_ptr<NvmlSensors>> Open(
      const Nvml& nvml, const std::string& uuid);
  ~NvmlSensors() override;

  SensorReading Read() override;

 private:
  NvmlSensors(const Nvml& nvml, std::string uuid, NvmlDevice device);

  std::optional<double> Energy() const;
  std::optional<SensorMemory> Memory() const;
  std::optional<double> SmClock() const;
  std::optional<std::array<bool, kClockLimits>> Limits() const;
  std::optional<int64_t> EccErrors() const;
  std::optional<int64_t> Xids();

  const Nvml& nvml_;
  const std::string uuid_;
  const NvmlDevice device_;
  NvmlEventSet events_ = nullptr;  // null: it tells of none
  int64_t xids_ = 0;
};

}  // namespace reprise::cuda
