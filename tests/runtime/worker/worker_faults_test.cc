#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "prometheus/metric_family.h"
#include "runtime/base/thread.h"
#include "runtime/device/fault.h"
#include "runtime/worker/device_worker.h"
#include "tests/testing/fake_device.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/worker_testing.h"

namespace reprise {
namespace {

using ::reprise::testing::FakeDeviceOptions;
using ::reprise::testing::FakeRun;
using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::reprise::testing::TestConfig;
using ::reprise::testing::TestModel;
using ::reprise::testing::TestTask;
using ::reprise::testing::WorkerFixture;
using ::testing::AllOf;
using ::testing::HasSubstr;

// A worker with two lanes, on a device whose runs the test ends.
class WorkerFaultsTest : public WorkerFixture {
 protected:
  void Start(FakeDeviceOptions options = {.run = FakeRun::kManual}) {
    ModelConfig config = TestConfig({1});
    config.instances = 2;
    options.slots = 6;
    WorkerOptions worker;
    worker.watchdog = absl::Seconds(1);
    worker.on_lost = [this](const absl::Status& why) {
      lost_.push_back(why);
      for (const TestTask& task : tasks_) answered_before_ += task.done();
    };
    Serve(std::make_unique<TestModel>(1, std::move(config)), std::move(options),
          {{}}, worker);
  }
  static absl::Status Fault() {
    return AsDeviceFault(absl::UnavailableError("CUDA_ERROR_ILLEGAL_ADDRESS"));
  }
  static auto IsLost() {
    return StatusIs(absl::StatusCode::kUnavailable,
                    AllOf(HasSubstr("device cpu is lost"),
                          HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS")));
  }

  std::vector<absl::Status> lost_;
  int answered_before_ = 0;
};

TEST_F(WorkerFaultsTest, WhatRunsAndWhatWaitsIsUnavailable) {
  Start();
  Offer(1);
  Offer(2);
  Offer(3);
  fake_->AwaitLaunches(2);
  fake_->Finish(Fault(), 0);
  for (TestTask& task : tasks_) EXPECT_THAT(task.Await(), IsLost());
  ASSERT_EQ(lost_.size(), 1u);
  EXPECT_THAT(lost_.front().message(), HasSubstr("ILLEGAL_ADDRESS"));
  EXPECT_EQ(answered_before_, 0);  // readiness ends first
  EXPECT_TRUE(worker_->load().lost);
  TestTask late(4);
  EXPECT_THAT(worker_->Offer(1, late), IsLost());
  fake_->FinishAll();
}

TEST_F(WorkerFaultsTest, ARunThatEndsLaterIsNotAnsweredAgain) {
  Start();
  Offer(1);
  Offer(2);
  fake_->AwaitLaunches(2);
  fake_->Finish(Fault(), 0);
  for (TestTask& task : tasks_) EXPECT_THAT(task.Await(), IsLost());
  fake_->FinishAll();
  EXPECT_TRUE(worker_->Stop(absl::InfiniteFuture()));
  for (const TestTask& task : tasks_) EXPECT_EQ(task.completions(), 1);
}

TEST_F(WorkerFaultsTest, ALaunchThatLosesTheDeviceIsOne) {
  Start();
  fake_->FailSubmit(Fault());
  EXPECT_THAT(Offer(1).Await(), IsLost());
  EXPECT_EQ(lost_.size(), 1u);
}

TEST_F(WorkerFaultsTest, AnotherErrorLosesNothing) {
  Start();
  TestTask& bad = Offer(1);
  fake_->AwaitLaunches(1);
  fake_->Finish(absl::InternalError("a run failed"));
  EXPECT_THAT(bad.Await(), StatusIs(absl::StatusCode::kInternal));
  TestTask& good = Offer(2);
  fake_->AwaitLaunches(2);
  fake_->Finish();
  EXPECT_THAT(good.Await(), IsOk());
  EXPECT_TRUE(lost_.empty());
  EXPECT_FALSE(worker_->load().lost);
}

TEST_F(WorkerFaultsTest, AStepOfALoaderCanLoseTheDevice) {
  Start({.run = FakeRun::kManual, .load_steps = true});
  const absl::Status status =
      fake_->load_steps().Run(LoadStep::kWarmUp, [] { return Fault(); });
  EXPECT_TRUE(IsDeviceFault(status));
  EXPECT_TRUE(worker_->load().lost);
  TestTask late(1);
  EXPECT_THAT(worker_->Offer(1, late), IsLost());
}

TEST_F(WorkerFaultsTest, ARunThatDoesNotEndLosesADeviceThatNobodyCanStop) {
  Start({.run = FakeRun::kManual, .lost_when_stuck = true});
  TestTask& task = Offer(1);
  fake_->AwaitLaunches(1);
  clock_.Advance(absl::Seconds(0.9));
  worker_->CheckWatchdog();
  EXPECT_TRUE(lost_.empty());
  clock_.Advance(absl::Seconds(0.2));
  worker_->CheckWatchdog();
  EXPECT_THAT(task.Await(), StatusIs(absl::StatusCode::kUnavailable,
                                     HasSubstr("watchdog's time, 1s")));
  worker_->CheckWatchdog();
  EXPECT_EQ(lost_.size(), 1u);
  fake_->FinishAll();  // for the worker's end
}

TEST_F(WorkerFaultsTest, ARunThatDoesNotEndOnACpuMayStill) {
  Start();
  TestTask& task = Offer(1);
  fake_->AwaitLaunches(1);
  clock_.Advance(absl::Seconds(2));
  worker_->CheckWatchdog();
  EXPECT_TRUE(worker_->load().stuck);
  EXPECT_TRUE(lost_.empty());
  fake_->FinishAll();
  EXPECT_THAT(task.Await(), IsOk());
}

TEST_F(WorkerFaultsTest, AStepThatDoesNotEndLosesTheDevice) {
  Start({.run = FakeRun::kManual, .load_steps = true, .lost_when_stuck = true});
  const absl::Status status =
      fake_->load_steps().Run(LoadStep::kLoadModule, [this] {
        clock_.Advance(absl::Seconds(29));
        worker_->CheckWatchdog();
        EXPECT_TRUE(lost_.empty());
        clock_.Advance(absl::Seconds(2));
        worker_->CheckWatchdog();
        return absl::OkStatus();
      });
  EXPECT_THAT(status, IsOk());
  ASSERT_EQ(lost_.size(), 1u);
  EXPECT_THAT(lost_.front().message(), HasSubstr("a step of loading"));
}

// reprise_gpu_errors_total of GPU 0.
class CountedFaultsTest : public WorkerFaultsTest {
 protected:
  void SetUp() override {
    WorkerOptions worker;
    worker.gpu_index = 0;
    Serve(std::make_unique<TestModel>(1, TestConfig({1})),
          {.run = FakeRun::kManual, .gpu_index = 0}, {{}}, worker);
  }
  // -1: there is no such series.
  double Errors(const std::string& kind) const {
    for (const prometheus::MetricFamily& family : registry_.Collect()) {
      if (family.name != "reprise_gpu_errors_total") continue;
      for (const auto& metric : family.metric) {
        for (const auto& label : metric.label) {
          if (label.name == "kind" && label.value == kind) {
            return metric.counter.value;
          }
        }
      }
    }
    return -1;
  }
};

TEST_F(CountedFaultsTest, AFaultOfAGpuIsCountedOnce) {
  EXPECT_EQ(Errors("cuda"), 0);
  worker_->Lose(Fault());
  worker_->Lose(Fault());
  EXPECT_EQ(Errors("cuda"), 1);
  EXPECT_EQ(Errors("watchdog"), 0);
}

TEST_F(CountedFaultsTest, AWatchdogThatFiresIsNoErrorOfCuda) {
  worker_->Lose(absl::DeadlineExceededError("a run did not end"));
  EXPECT_EQ(Errors("cuda"), 0);
  EXPECT_EQ(Errors("watchdog"), 1);
}

}  // namespace
}  // namespace reprise
