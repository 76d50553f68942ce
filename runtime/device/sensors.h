// What a device measures of itself, whoever uses it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace reprise {

// Why a clock is lower than it could be.
enum class ClockLimit {
  kPowerCap,
  kThermal,
  kPowerBrake,  // the power supply asks for it
  kHardware,    // another slowdown by the board itself
};
inline constexpr int kClockLimits = static_cast<int>(ClockLimit::kHardware) + 1;
absl::string_view ClockLimitName(ClockLimit limit);

struct SensorMemory {
  int64_t used = 0;  // bytes, of all processes, and what is set aside
  int64_t free = 0;
  int64_t total = 0;
};

// Each is absent where the device does not have it.
struct SensorReading {
  std::optional<double> energy_joules;  // since an instant that does not move
  std::optional<SensorMemory> memory;
  std::optional<double> sm_clock_hertz;
  std::optional<std::array<bool, kClockLimits>> clock_limits;
  std::optional<int64_t> ecc_errors;  // uncorrected, since the driver's start
  std::optional<int64_t> xids;        // critical errors since it was opened
};

// Threads: one at a time. Read may take long, as where the driver is held up.
class Sensors {
 public:
  virtual ~Sensors() = default;
  virtual SensorReading Read() = 0;
};

}  // namespace reprise
