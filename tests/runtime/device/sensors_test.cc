#include "runtime/device/sensors.h"

#include <set>

#include "gtest/gtest.h"

namespace reprise {
namespace {

TEST(SensorsTest, EveryLimitOfAClockHasANameOfItsOwn) {
  std::set<absl::string_view> names;
  for (int i = 0; i < kClockLimits; ++i) {
    names.insert(ClockLimitName(static_cast<ClockLimit>(i)));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(kClockLimits));
  EXPECT_EQ(ClockLimitName(ClockLimit::kPowerCap), "power_cap");
  EXPECT_EQ(ClockLimitName(ClockLimit::kHardware), "hardware");
}

}  // namespace
}  // namespace reprise
