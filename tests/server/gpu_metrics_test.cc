#include "server/gpu_metrics.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "prometheus/metric_family.h"
#include "prometheus/text_serializer.h"
#include "tests/testing/fake_clock.h"

namespace reprise {
namespace {

using ::reprise::testing::FakeClock;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// What the sensors say: the test's side. `held`: a reading does not end.
struct FakeSensors {
  absl::Mutex mu;
  SensorReading reading ABSL_GUARDED_BY(mu);
  bool held ABSL_GUARDED_BY(mu) = false;
  int readings ABSL_GUARDED_BY(mu) = 0;

  void Say(const SensorReading& value) {
    absl::MutexLock lock(&mu);
    reading = value;
  }
  void Hold(bool value) {
    absl::MutexLock lock(&mu);
    held = value;
  }
  void AwaitReadings(int count) {
    const auto enough = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
      return readings >= count;
    };
    absl::MutexLock lock(&mu, absl::Condition(&enough));
  }
};

class SensorsOfTest final : public Sensors {
 public:
  explicit SensorsOfTest(FakeSensors& fake) : fake_(fake) {}
  SensorReading Read() override {
    absl::MutexLock lock(&fake_.mu);
    ++fake_.readings;
    const auto free = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(fake_.mu) {
      return !fake_.held;
    };
    fake_.mu.Await(absl::Condition(&free));
    return fake_.reading;
  }

 private:
  FakeSensors& fake_;
};

SensorReading Everything() {
  SensorReading reading;
  reading.energy_joules = 1000;
  reading.memory = SensorMemory{.used = 3, .free = 7, .total = 10};
  reading.sm_clock_hertz = 1.98e9;
  reading.clock_limits = {true, false, false, false};
  reading.ecc_errors = 5;
  reading.xids = 0;
  return reading;
}

class GpuMetricsTest : public ::testing::Test {
 protected:
  GpuMetrics::Gpu Gpu(int index) {
    return {index, [this]() -> absl::StatusOr<std::unique_ptr<Sensors>> {
              return std::make_unique<SensorsOfTest>(fake_);
            }};
  }
  void Start() {
    std::vector<GpuMetrics::Gpu> gpus;
    gpus.push_back(Gpu(0));
    metrics_ = std::make_unique<GpuMetrics>(std::move(gpus), clock_, registry_);
    clock_.AwaitWaiters(1);
  }
  // Another reading, a second later.
  void Next(const SensorReading& reading) {
    fake_.Say(reading);
    const absl::Time due = clock_.Now() + absl::Seconds(1);
    clock_.Advance(absl::Seconds(1));
    clock_.AwaitDeadline(due + absl::Seconds(1));
  }
  std::string Page() const {
    return prometheus::TextSerializer().Serialize(registry_.Collect());
  }

  FakeClock clock_;
  FakeSensors fake_;
  prometheus::Registry registry_;
  std::unique_ptr<GpuMetrics> metrics_;
};

TEST_F(GpuMetricsTest, WhatTheSensorsSayIsShown) {
  fake_.Say(Everything());
  Start();
  EXPECT_THAT(
      Page(),
      AllOf(HasSubstr(R"(reprise_energy_joules_total{device="0"} 0)"),
            HasSubstr(R"(reprise_gpu_memory_bytes{device="0",state="used"} 3)"),
            HasSubstr(R"(reprise_gpu_memory_bytes{device="0",state="free"} 7)"),
            HasSubstr(R"(memory_bytes{device="0",state="total"} 10)"),
            HasSubstr(R"(reprise_gpu_sm_clock_hertz{device="0"} 1980000000)"),
            HasSubstr(R"(clock_limited{device="0",reason="power_cap"} 1)"),
            HasSubstr(R"(clock_limited{device="0",reason="thermal"} 0)"),
            HasSubstr(R"(reprise_gpu_errors_total{device="0",kind="ecc"} 0)"),
            HasSubstr(R"(errors_total{device="0",kind="xid"} 0)")));
}

TEST_F(GpuMetricsTest, CountersGrowByWhatWasAdded) {
  fake_.Say(Everything());
  Start();
  SensorReading later = Everything();
  later.energy_joules = 1350;
  later.ecc_errors = 7;
  later.xids = 1;
  later.sm_clock_hertz = 1.2e9;
  Next(later);
  EXPECT_THAT(Page(),
              AllOf(HasSubstr(R"(energy_joules_total{device="0"} 350)"),
                    HasSubstr(R"(errors_total{device="0",kind="ecc"} 2)"),
                    HasSubstr(R"(errors_total{device="0",kind="xid"} 1)"),
                    HasSubstr(R"(sm_clock_hertz{device="0"} 1200000000)")));
  later.energy_joules = 10;  // it began anew
  Next(later);
  later.energy_joules = 15;
  Next(later);
  EXPECT_THAT(Page(), HasSubstr(R"(energy_joules_total{device="0"} 355)"));
}

TEST_F(GpuMetricsTest, AnXidBeforeTheFirstReadingCounts) {
  SensorReading reading = Everything();
  reading.xids = 2;
  fake_.Say(reading);
  Start();
  EXPECT_THAT(Page(), HasSubstr(R"(errors_total{device="0",kind="xid"} 2)"));
}

TEST_F(GpuMetricsTest, WhatIsNotSaidHasNoSeries) {
  SensorReading slice;
  slice.memory = SensorMemory{.used = 3, .free = 7, .total = 10};
  fake_.Say(slice);
  Start();
  EXPECT_THAT(Page(), AllOf(HasSubstr(R"(state="used"} 3)"),
                            Not(HasSubstr("reprise_energy_joules_total{")),
                            Not(HasSubstr("reprise_gpu_sm_clock_hertz{")),
                            Not(HasSubstr("reprise_gpu_clock_limited{")),
                            Not(HasSubstr("reprise_gpu_errors_total{"))));
}

TEST_F(GpuMetricsTest, AGaugeThatIsNotSaidAnyMoreGoes) {
  fake_.Say(Everything());
  Start();
  SensorReading later = Everything();
  later.memory.reset();
  Next(later);
  EXPECT_THAT(Page(), AllOf(Not(HasSubstr("reprise_gpu_memory_bytes{")),
                            HasSubstr("reprise_gpu_sm_clock_hertz{")));
  Next(Everything());
  EXPECT_THAT(Page(), HasSubstr(R"(state="used"} 3)"));
}

TEST_F(GpuMetricsTest, AScrapeDoesNotWaitForAReading) {
  fake_.Say(Everything());
  Start();
  fake_.Hold(true);
  clock_.Advance(absl::Seconds(1));
  fake_.AwaitReadings(2);
  EXPECT_THAT(Page(), HasSubstr(R"(state="used"} 3)"));
  fake_.Hold(false);
}

TEST_F(GpuMetricsTest, AMissingLibraryIsSaidOnceAndShowsNothing) {
  const auto missing = []() -> absl::StatusOr<std::unique_ptr<Sensors>> {
    return absl::NotFoundError("no NVML: libnvidia-ml.so.1");
  };
  std::vector<GpuMetrics::Gpu> gpus;
  gpus.push_back({0, missing});
  gpus.push_back({1, missing});
  ::testing::internal::CaptureStderr();
  metrics_ = std::make_unique<GpuMetrics>(std::move(gpus), clock_, registry_);
  metrics_.reset();
  const std::string log = ::testing::internal::GetCapturedStderr();
  const size_t first = log.find("libnvidia-ml.so.1");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(log.find("libnvidia-ml.so.1", first + 1), std::string::npos);
  EXPECT_THAT(Page(), Not(HasSubstr("{device=")));
}

TEST_F(GpuMetricsTest, AGpuWithoutSensorsDoesNotHideTheOthers) {
  fake_.Say(Everything());
  std::vector<GpuMetrics::Gpu> gpus;
  gpus.push_back({0, []() -> absl::StatusOr<std::unique_ptr<Sensors>> {
                    return absl::NotFoundError("unknown");
                  }});
  gpus.push_back(Gpu(1));
  metrics_ = std::make_unique<GpuMetrics>(std::move(gpus), clock_, registry_);
  clock_.AwaitWaiters(1);
  EXPECT_THAT(Page(), AllOf(HasSubstr(R"(sm_clock_hertz{device="1"})"),
                            Not(HasSubstr(R"({device="0")"))));
}

TEST_F(GpuMetricsTest, WithoutGpusThereIsNothing) {
  metrics_ = std::make_unique<GpuMetrics>(std::vector<GpuMetrics::Gpu>(),
                                          clock_, registry_);
  EXPECT_TRUE(registry_.Collect().empty());
}

}  // namespace
}  // namespace reprise
