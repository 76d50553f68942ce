#include "runtime/device/load_steps.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/thread.h"
#include "runtime/device/device_observer.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::FakeClock;
using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::Pair;

class LoadStepsTest : public ::testing::Test {
 protected:
  // Counts what the worker is told; blocks until it has been told so often.
  void Open() {
    steps_.Open([this] {
      absl::MutexLock lock(&mu_);
      ++told_;
    });
  }
  void AwaitTold(int count) {
    const auto enough = [&] { return told_ >= count; };
    absl::MutexLock lock(&mu_, absl::Condition(&enough));
  }

  FakeClock clock_;
  LoadSteps steps_{clock_};
  absl::Mutex mu_;
  int told_ = 0;
};

TEST_F(LoadStepsTest, WithoutAWorkerAStepRunsAtOnce) {
  EXPECT_THAT(steps_.Run(LoadStep::kUpload,
                         [&] {
                           EXPECT_TRUE(steps_.running());
                           clock_.Advance(absl::Milliseconds(2));
                           return absl::OkStatus();
                         }),
              IsOk());
  EXPECT_FALSE(steps_.wanted());
  EXPECT_THAT(steps_.Run(LoadStep::kUpload,
                         [&] {
                           clock_.Advance(absl::Milliseconds(5));
                           return absl::InternalError("broken");
                         }),
              StatusIs(absl::StatusCode::kInternal, "broken"));
  EXPECT_EQ(steps_.times(LoadStep::kUpload).count, 2);
  EXPECT_EQ(steps_.times(LoadStep::kUpload).total, absl::Milliseconds(7));
  EXPECT_EQ(steps_.times(LoadStep::kUpload).longest, absl::Milliseconds(5));
  EXPECT_EQ(steps_.times(LoadStep::kReplay).count, 0);
}

TEST_F(LoadStepsTest, AStepWaitsToBeGranted) {
  Open();
  bool ran = false;
  Thread loader("loader", [&] {
    EXPECT_THAT(steps_.Run(LoadStep::kWarmUp,
                           [&] {
                             ran = true;
                             return absl::OkStatus();
                           }),
                IsOk());
  });
  AwaitTold(1);
  EXPECT_TRUE(steps_.wanted());
  EXPECT_FALSE(steps_.running());
  EXPECT_FALSE(ran);
  EXPECT_TRUE(steps_.Grant());
  AwaitTold(2);
  loader.Join();
  EXPECT_TRUE(ran);
  EXPECT_FALSE(steps_.wanted());
  EXPECT_FALSE(steps_.Grant());
}

TEST_F(LoadStepsTest, StepsOfSeveralLoadersRunOneByOneInOrder) {
  Open();
  std::string order;
  std::vector<Thread> loaders;
  for (const char name : {'a', 'b', 'c'}) {
    loaders.emplace_back("loader", [&, name] {
      EXPECT_THAT(steps_.Run(LoadStep::kTrial,
                             [&] {
                               order += name;
                               return absl::OkStatus();
                             }),
                  IsOk());
    });
    AwaitTold(name - 'a' + 1);
  }
  for (int i = 1; i <= 3; ++i) {
    EXPECT_TRUE(steps_.Grant());
    AwaitTold(3 + i);
  }
  loaders.clear();
  EXPECT_EQ(order, "abc");
}

TEST_F(LoadStepsTest, WhoWaitsWhenTheWorkerGoesRuns) {
  Open();
  Thread loader("loader", [&] {
    EXPECT_THAT(steps_.Run(LoadStep::kReplay, [] { return absl::OkStatus(); }),
                IsOk());
  });
  AwaitTold(1);
  steps_.Close();
  loader.Join();
}

TEST_F(LoadStepsTest, EveryStepHasAName) {
  for (int i = 0; i < kLoadSteps; ++i) {
    EXPECT_FALSE(LoadStepName(static_cast<LoadStep>(i)).empty());
  }
}

class CountingObserver final : public DeviceObserver {
 public:
  void Ran(RunKind /*kind*/) override {}
  void Captured(absl::Duration /*took*/) override {}
  void LeftOut() override {}
  void Stepped(LoadStep step, absl::Duration took) override {
    steps.emplace_back(step, took);
  }

  std::vector<std::pair<LoadStep, absl::Duration>> steps;
};

TEST_F(LoadStepsTest, WhatTheWorkerDoesItselfIsCountedWithoutATurn) {
  CountingObserver observer;
  steps_.Observe(&observer);
  Open();
  steps_.Count(LoadStep::kFree, absl::Milliseconds(3));
  EXPECT_FALSE(steps_.wanted());
  EXPECT_EQ(steps_.times(LoadStep::kFree).count, 1);
  EXPECT_EQ(steps_.times(LoadStep::kFree).longest, absl::Milliseconds(3));
  EXPECT_THAT(observer.steps,
              ElementsAre(Pair(LoadStep::kFree, absl::Milliseconds(3))));
}

TEST_F(LoadStepsTest, AnObserverIsToldOfEveryStepUntilTheEnd) {
  CountingObserver observer;
  const auto run = [&](LoadStep step, absl::Duration took) {
    EXPECT_THAT(steps_.Run(step,
                           [&] {
                             clock_.Advance(took);
                             return absl::InternalError("broken");
                           }),
                StatusIs(absl::StatusCode::kInternal));
  };
  steps_.Observe(&observer);
  run(LoadStep::kUpload, absl::Milliseconds(2));
  run(LoadStep::kTrial, absl::Milliseconds(3));
  steps_.Close();
  run(LoadStep::kTrial, absl::Milliseconds(4));
  EXPECT_THAT(observer.steps,
              ElementsAre(Pair(LoadStep::kUpload, absl::Milliseconds(2)),
                          Pair(LoadStep::kTrial, absl::Milliseconds(3))));
}

TEST_F(LoadStepsTest, ARecordHasTheStepsOfItsThreadAndItsDevice) {
  LoadSteps other(clock_);
  const auto run = [&](LoadSteps& steps, LoadStep step, int64_t ms) {
    EXPECT_THAT(steps.Run(step,
                          [&] {
                            clock_.Advance(absl::Milliseconds(ms));
                            return absl::OkStatus();
                          }),
                IsOk());
  };
  run(steps_, LoadStep::kUpload, 9);
  {
    const LoadStepRecord record(&steps_);
    EXPECT_EQ(record.text(), "");
    run(steps_, LoadStep::kUpload, 2);
    run(steps_, LoadStep::kUpload, 5);
    run(steps_, LoadStep::kReplay, 1);
    run(other, LoadStep::kUpload, 8);
    Thread loader("loader", [&] { run(steps_, LoadStep::kUpload, 7); });
    loader.Join();
    EXPECT_EQ(record.times(LoadStep::kUpload).count, 2);
    EXPECT_EQ(record.times(LoadStep::kUpload).total, absl::Milliseconds(7));
    EXPECT_EQ(record.text(),
              "upload=2 upload_longest_seconds=0.005 "
              "replay=1 replay_longest_seconds=0.001");
    {
      const LoadStepRecord inner(nullptr);
      run(steps_, LoadStep::kTrial, 1);
      EXPECT_EQ(inner.text(), "");
    }
    run(steps_, LoadStep::kWarmUp, 1);
    EXPECT_EQ(record.times(LoadStep::kTrial).count, 0);
    EXPECT_EQ(record.times(LoadStep::kWarmUp).count, 1);
  }
  run(steps_, LoadStep::kUpload, 1);  // nobody records it
  EXPECT_EQ(steps_.times(LoadStep::kUpload).count, 5);
}

}  // namespace
}  // namespace reprise
