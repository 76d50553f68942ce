#include "runtime/cuda/nvml_sensors.h"

#include <cstdlib>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/fake_nvml.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::testing::ElementsAre;
using testing::FakeNvml;
using testing::FakeNvmlGpu;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

constexpr char kGpu[] = "GPU-00000000-0000-0000-0000-000000000001";
constexpr char kOther[] = "GPU-00000000-0000-0000-0000-000000000002";
constexpr char kSlice[] = "MIG-00000000-0000-0000-0000-000000000003";

class NvmlSensorsTest : public ::testing::Test {
 protected:
  NvmlSensorsTest() {
    fake_.gpus[kGpu] = {.energy_millijoules = 12'345,
                        .memory = {.total = 100, .free = 60, .used = 40},
                        .sm_megahertz = 1980,
                        .limits = kNvmlPowerCap | kNvmlHardwareThermalSlowdown,
                        .ecc_errors = 3};
    fake_.gpus[kOther] = {.sm_megahertz = 1};
    FakeNvmlGpu& slice = fake_.gpus[kSlice];
    slice.memory = {.total = 10, .free = 6, .used = 4};
    for (const char* of :
         {"DeviceGetTotalEnergyConsumption", "DeviceGetClockInfo",
          "DeviceGetCurrentClocksThrottleReasons", "DeviceGetTotalEccErrors",
          "DeviceRegisterEvents"}) {
      slice.results[of] = kNvmlNotSupported;
    }
  }
  std::unique_ptr<NvmlSensors> Open(const std::string& uuid) {
    auto sensors = NvmlSensors::Open(fake_.nvml(), uuid);
    EXPECT_THAT(sensors, IsOk());
    return *std::move(sensors);
  }
  void Happen(uint64_t type, uint64_t data) {
    NvmlEvent event{};
    event.type = type;
    event.data = data;
    fake_.events.push_back(event);
  }

  FakeNvml fake_;
};

TEST_F(NvmlSensorsTest, TheGpuOfThatUuidIsRead) {
  const SensorReading reading = Open(kGpu)->Read();
  EXPECT_NEAR(*reading.energy_joules, 12.345, 1e-9);
  EXPECT_EQ(reading.memory->used, 40);
  EXPECT_EQ(reading.memory->free, 60);
  EXPECT_EQ(reading.memory->total, 100);
  EXPECT_EQ(*reading.sm_clock_hertz, 1.98e9);
  EXPECT_THAT(*reading.clock_limits, ElementsAre(true, true, false, false));
  EXPECT_EQ(*reading.ecc_errors, 3);
  EXPECT_EQ(*reading.xids, 0);
  EXPECT_EQ(*Open(kOther)->Read().sm_clock_hertz, 1e6);
}

TEST_F(NvmlSensorsTest, AnUnknownUuidIsNamed) {
  EXPECT_THAT(NvmlSensors::Open(fake_.nvml(), "GPU-nobody"),
              StatusIs(absl::StatusCode::kNotFound,
                       "looking for GPU-nobody: Not Found (6)"));
}

TEST_F(NvmlSensorsTest, ASliceHasItsMemoryAndNoMore) {
  const SensorReading reading = Open(kSlice)->Read();
  EXPECT_EQ(reading.memory->total, 10);
  EXPECT_FALSE(reading.energy_joules.has_value());
  EXPECT_FALSE(reading.sm_clock_hertz.has_value());
  EXPECT_FALSE(reading.clock_limits.has_value());
  EXPECT_FALSE(reading.ecc_errors.has_value());
  EXPECT_FALSE(reading.xids.has_value());
  EXPECT_EQ(fake_.live_event_sets, 0);
}

TEST_F(NvmlSensorsTest, XidsAreCountedAndSaid) {
  const auto sensors = Open(kGpu);
  EXPECT_EQ(fake_.registered_types, kNvmlXidEvent);
  Happen(kNvmlXidEvent, 31);
  Happen(/*type=*/0x2, 0);
  Happen(kNvmlXidEvent, 79);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(*sensors->Read().xids, 2);
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr(std::string("gpu=") + kGpu + " xid=31"));
  EXPECT_THAT(log, HasSubstr("xid=79"));
  EXPECT_EQ(*sensors->Read().xids, 2);
}

TEST_F(NvmlSensorsTest, TheEventsGoWithTheSensors) {
  auto sensors = Open(kGpu);
  EXPECT_EQ(fake_.live_event_sets, 1);
  sensors.reset();
  EXPECT_EQ(fake_.live_event_sets, 0);
}

TEST_F(NvmlSensorsTest, AFigureThatFailsOnceComesBack) {
  const auto sensors = Open(kGpu);
  fake_.gpus[kGpu].results["DeviceGetMemoryInfo"] = static_cast<NvmlReturn>(15);
  EXPECT_FALSE(sensors->Read().memory.has_value());
  fake_.gpus[kGpu].results.clear();
  EXPECT_TRUE(sensors->Read().memory.has_value());
}

TEST_F(NvmlSensorsTest, AnOldLibraryHasFewerFigures) {
  Nvml old = fake_.nvml();
  old.DeviceGetTotalEnergyConsumption = nullptr;
  old.EventSetWait_v2 = nullptr;
  const auto sensors = NvmlSensors::Open(old, kGpu);
  ASSERT_THAT(sensors, IsOk());
  const SensorReading reading = (*sensors)->Read();
  EXPECT_FALSE(reading.energy_joules.has_value());
  EXPECT_FALSE(reading.xids.has_value());
  EXPECT_TRUE(reading.sm_clock_hertz.has_value());
  EXPECT_EQ(fake_.live_event_sets, 0);
}

}  // namespace
}  // namespace reprise::cuda
