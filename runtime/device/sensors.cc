#include "runtime/device/sensors.h"

#include <cstddef>

namespace reprise {

absl::string_view ClockLimitName(ClockLimit limit) {
  static constexpr std::array<absl::string_view, kClockLimits> kNames = {
      "power_cap", "thermal", "power_brake", "hardware"};
  return kNames[static_cast<size_t>(limit)];
}

}  // namespace reprise
