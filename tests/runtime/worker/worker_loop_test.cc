#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/thread.h"
#include "runtime/worker/device_worker.h"
#include "tests/testing/fake_device.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/worker_testing.h"

namespace reprise {
namespace {

using ::reprise::testing::FakeDeviceOptions;
using ::reprise::testing::FakeLaunch;
using ::reprise::testing::FakeRun;
using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::reprise::testing::TestConfig;
using ::reprise::testing::TestModel;
using ::reprise::testing::TestTask;
using ::reprise::testing::WorkerFixture;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// When the worker looks, and what for: one model "m" on a device whose runs the
// test ends.
class WorkerLoopTest : public WorkerFixture {
 protected:
  void Start(ModelConfig config, FakeDeviceOptions options) {
    Serve(std::make_unique<TestModel>(1, std::move(config)),
          std::move(options));
  }
};

TEST_F(WorkerLoopTest, WithoutADelayALoneRequestRunsAtOnce) {
  Start(TestConfig(), {.run = FakeRun::kInstant});
  EXPECT_THAT(Offer(1).Await(), IsOk());  // the clock stands still
}

TEST_F(WorkerLoopTest, ALoneRequestRunsWhenItsDelayIsOver) {
  ModelConfig config = TestConfig();
  config.batch.max_queue_delay = absl::Milliseconds(3);
  Start(std::move(config), {.run = FakeRun::kInstant});
  const absl::Time due = clock_.Now() + absl::Milliseconds(3);
  TestTask& task = Offer(1);
  clock_.AwaitDeadline(due);
  EXPECT_EQ(fake_->launches(), 0);
  clock_.Advance(absl::Milliseconds(3));
  EXPECT_THAT(task.Await(), IsOk());
  EXPECT_EQ(task.times().picked, due);
}

TEST_F(WorkerLoopTest, TheDelayEndsWhenTheBatchIsFull) {
  ModelConfig config = TestConfig({1, 2, 4});
  config.batch.max_queue_delay = absl::Seconds(10);
  Start(std::move(config), {.run = FakeRun::kInstant});
  for (int i = 0; i < 4; ++i) Offer(i);
  for (TestTask& task : tasks_) EXPECT_THAT(task.Await(), IsOk());
  EXPECT_EQ(fake_->launches(), 1);
}

TEST_F(WorkerLoopTest, WithPrioritiesTheDelayEndsWhenTheBatchIsFull) {
  ModelConfig config = TestConfig({1, 2, 4});
  config.batch.max_queue_delay = absl::Seconds(10);
  config.batch.priority_levels = 2;
  config.batch.default_priority = 2;
  Start(std::move(config), {.run = FakeRun::kInstant});
  for (int i = 0; i < 3; ++i) Offer(i);
  // It waits for the delay, and looks at its load meanwhile.
  clock_.AwaitDeadline(clock_.Now() + absl::Milliseconds(100));
  Offer(3);
  for (TestTask& task : tasks_) EXPECT_THAT(task.Await(), IsOk());
  EXPECT_EQ(fake_->launches(), 1);
}

TEST_F(WorkerLoopTest, TheDelayEndsAtAPreferredSize) {
  ModelConfig config = TestConfig({1, 3, 8});
  config.batch.max_queue_delay = absl::Seconds(10);
  config.batch.preferred_sizes = {3};
  Start(std::move(config), {.run = FakeRun::kInstant});
  for (int i = 0; i < 3; ++i) Offer(i);
  for (TestTask& task : tasks_) EXPECT_THAT(task.Await(), IsOk());
  EXPECT_EQ(fake_->launch_log()[0].rows, 3);
}

TEST_F(WorkerLoopTest, WhatWaitsBehindARunGoesIntoOneBatch) {
  Start(TestConfig(), {.run = FakeRun::kManual,
                       .rung_time = [](int) { return absl::Seconds(1); }});
  Offer(0);
  fake_->AwaitLaunches(1);
  for (int i = 1; i <= 4; ++i) Offer(i);
  fake_->Finish();
  fake_->AwaitLaunches(2);
  EXPECT_EQ(fake_->launch_log()[1].rows, 4);
  fake_->FinishAll();
}

TEST_F(WorkerLoopTest, ABatchIsSubmittedShortlyBeforeTheOneBeforeIsOver) {
  Start(TestConfig(), {.run = FakeRun::kManual,
                       .rung_time = [](int) { return absl::Seconds(1); }});
  Offer(0);
  fake_->AwaitLaunches(1);
  const absl::Time decide =
      clock_.Now() + absl::Seconds(1) - absl::Microseconds(100);
  Offer(1);
  EXPECT_EQ(fake_->launches(), 1);
  clock_.Advance(absl::Milliseconds(999));
  EXPECT_EQ(fake_->launches(), 1);
  Offer(2);
  clock_.Advance(decide - clock_.Now());
  fake_->AwaitLaunches(2);  // while the first runs
  EXPECT_EQ(fake_->launch_log()[1].rows, 2);
  EXPECT_FALSE(tasks_[0].done());
  fake_->FinishAll();
}

TEST_F(WorkerLoopTest, BehindAShortRunTheNextIsSubmittedAtOnce) {
  Start(TestConfig(), {.run = FakeRun::kManual, .rung_time = [](int) {
                         return absl::Microseconds(10);
                       }});
  Offer(0);
  fake_->AwaitLaunches(1);
  Offer(1);
  fake_->AwaitLaunches(2);
  fake_->FinishAll();
}

TEST_F(WorkerLoopTest, ATimeoutIsAnsweredWhileALongBatchRuns) {
  Start(TestConfig({1}), {.run = FakeRun::kManual,
                          .rung_time = [](int) { return absl::Seconds(9); }});
  Offer(0);
  fake_->AwaitLaunches(1);
  TestTask& task = tasks_.emplace_back(1);
  task.Timeout(absl::Milliseconds(5), clock_.Now());
  ASSERT_THAT(worker_->Offer(1, task), IsOk());
  clock_.AwaitDeadline(clock_.Now() + absl::Milliseconds(5));
  EXPECT_FALSE(task.done());
  clock_.Advance(absl::Milliseconds(5));
  EXPECT_THAT(task.Await(), StatusIs(absl::StatusCode::kDeadlineExceeded,
                                     HasSubstr("timeout of 5000 us")));
  EXPECT_FALSE(tasks_[0].done());
  fake_->FinishAll();
  EXPECT_THAT(tasks_[0].Await(), IsOk());
  EXPECT_EQ(fake_->launches(), 1);
}

TEST_F(WorkerLoopTest, AGrpcDeadlineIsAnsweredWhenItPasses) {
  Start(TestConfig({1}), {.run = FakeRun::kManual,
                          .rung_time = [](int) { return absl::Seconds(9); }});
  Offer(0);
  fake_->AwaitLaunches(1);
  TestTask& task = tasks_.emplace_back(1);
  task.Deadline(clock_.Now() + absl::Milliseconds(7));
  ASSERT_THAT(worker_->Offer(1, task), IsOk());
  clock_.AwaitDeadline(clock_.Now() + absl::Milliseconds(7));
  clock_.Advance(absl::Milliseconds(7));
  EXPECT_THAT(task.Await(), StatusIs(absl::StatusCode::kDeadlineExceeded,
                                     HasSubstr("request deadline")));
  fake_->FinishAll();
}

TEST_F(WorkerLoopTest, WithASloTheHopelessAreRefusedAtOnce) {
  ModelConfig config = TestConfig({1});
  config.batch.slo = absl::Seconds(10);
  Start(std::move(config), {.run = FakeRun::kManual,
                            .rung_time = [](int) { return absl::Seconds(4); }});
  TestTask hopeless(1);
  hopeless.Deadline(clock_.Now() + absl::Seconds(3));
  EXPECT_THAT(worker_->Offer(1, hopeless),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST_F(WorkerLoopTest, TwoLanesRunTwoBatches) {
  ModelConfig config = TestConfig({1});
  config.instances = 2;
  Start(std::move(config), {.run = FakeRun::kManual,
                            .rung_time = [](int) { return absl::Seconds(1); }});
  Offer(0);
  Offer(1);
  fake_->AwaitLaunches(2);
  EXPECT_NE(fake_->launch_log()[0].lane, fake_->launch_log()[1].lane);
  fake_->Finish(absl::OkStatus(), fake_->launch_log()[1].lane);
  clock_.Advance(absl::Seconds(1));  // the second is over before the first
  EXPECT_THAT(tasks_[1].Await(), IsOk());
  EXPECT_FALSE(tasks_[0].done());
  fake_->FinishAll();
  EXPECT_THAT(tasks_[0].Await(), IsOk());
}

TEST_F(WorkerLoopTest, WithOrderKeptTheFastLaneWaitsForTheSlowOne) {
  ModelConfig config = TestConfig({1});
  config.instances = 2;
  config.batch.preserve_ordering = true;
  Start(std::move(config), {.run = FakeRun::kManual,
                            .slots = 8,
                            .rung_time = [](int) { return absl::Seconds(1); }});
  Offer(0);
  Offer(1);
  fake_->AwaitLaunches(2);
  const std::vector<FakeLaunch> log = fake_->launch_log();
  fake_->Finish(absl::OkStatus(), log[1].lane);
  clock_.Advance(absl::Seconds(1));
  Offer(2);  // takes the lane that is free now
  fake_->AwaitLaunches(3);
  EXPECT_FALSE(tasks_[1].done());
  fake_->Finish(absl::OkStatus(), log[0].lane);
  EXPECT_THAT(tasks_[0].Await(), IsOk());
  EXPECT_THAT(tasks_[1].Await(), IsOk());
  EXPECT_FALSE(tasks_[2].done());
  fake_->FinishAll();
  EXPECT_THAT(tasks_[2].Await(), IsOk());
}

TEST_F(WorkerLoopTest, AHeldReplyThatHoldsTheLastSlotOnlyDelays) {
  Start(TestConfig({1}), {.run = FakeRun::kInstant, .slots = 1});
  TestTask& first = Offer(0);
  EXPECT_THAT(first.Await(), IsOk());
  EXPECT_FALSE(first.may_hold_slot());
  TestTask& second = Offer(1);
  EXPECT_FALSE(second.done());
  first.DropOutput();
  EXPECT_THAT(second.Await(), IsOk());
}

TEST_F(WorkerLoopTest, WithSlotsFreeAReplyMayHoldItsOwn) {
  Start(TestConfig({1}), {.run = FakeRun::kInstant, .slots = 3});
  TestTask& task = Offer(0);
  EXPECT_THAT(task.Await(), IsOk());
  EXPECT_TRUE(task.may_hold_slot());
}

TEST_F(WorkerLoopTest, PrioritiesRunFirst) {
  ModelConfig config = TestConfig({1});
  config.batch.priority_levels = 2;
  config.batch.default_priority = 2;
  Start(std::move(config), {.run = FakeRun::kManual,
                            .rung_time = [](int) { return absl::Seconds(1); }});
  Offer(0);
  fake_->AwaitLaunches(1);
  Offer(1);
  TestTask& urgent = tasks_.emplace_back(2);
  ASSERT_THAT(worker_->Offer(1, urgent.Priority(1)), IsOk());
  fake_->Finish();
  fake_->AwaitLaunches(2);
  EXPECT_THAT(fake_->launch_log()[1].tags, ElementsAre(2));
  fake_->FinishAll();
}

// A device that runs a batch within Submit: the thread that offers runs it.
class RunInlineTest : public WorkerLoopTest {
 protected:
  void SetUp() override {
    Start(TestConfig(), {.run = FakeRun::kInstant, .runs_inline = true});
    fake_->OnLaunch([this](const FakeLaunch&) {
      threads_.push_back(gettid());
      if (on_launch_) std::exchange(on_launch_, nullptr)();
    });
    // After its first request the worker waits for the next look at its load.
    EXPECT_THAT(Offer(-1).Await(), IsOk());
    clock_.AwaitDeadline(clock_.Now() + absl::Milliseconds(100));
    clock_.Advance(absl::Milliseconds(1));
    threads_.clear();
  }

  std::vector<pid_t> threads_;       // of each launch
  std::function<void()> on_launch_;  // once
};

TEST_F(RunInlineTest, ALoneRequestRunsOnTheThreadThatOffersIt) {
  TestTask& task = Offer(7);
  ASSERT_TRUE(task.done());
  EXPECT_THAT(task.rows_answered(), ElementsAre(7));
  EXPECT_THAT(threads_, ElementsAre(gettid()));
}

TEST_F(RunInlineTest, RequestsInARowAreTheWorkers) {
  Offer(0);
  EXPECT_THAT(Offer(1).Await(), IsOk());  // the clock has not moved
  ASSERT_EQ(threads_.size(), 2u);
  EXPECT_NE(threads_[1], gettid());
}

TEST_F(RunInlineTest, WhatComesMeanwhileIsTheWorkers) {
  on_launch_ = [this] { Offer(1); };
  Offer(0);
  EXPECT_THAT(tasks_[1].Await(), IsOk());
  EXPECT_THAT(tasks_[2].Await(), IsOk());
  ASSERT_EQ(threads_.size(), 2u);
  EXPECT_NE(threads_[1], gettid());
}

TEST_F(RunInlineTest, AModelIsRemovedBetweenInlineRuns) {
  Offer(0);
  for (TestTask& task : tasks_) task.DropOutput();
  worker_->Remove(1);
  TestTask late(1);
  EXPECT_THAT(worker_->Offer(1, late),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(fake_->live_executables(), 0);
}

// A step of a loader, on a thread that ends with the test. It waits to be
// granted, or runs, once this is made.
class StepOfALoader {
 public:
  explicit StepOfALoader(testing::FakeDevice& fake)
      : thread_("loader", [this, &fake] {
          EXPECT_THAT(fake.load_steps().Run(LoadStep::kReplay,
                                            [&] {
                                              launches_ = fake.launches();
                                              begun_.Notify();
                                              go_on_.WaitForNotification();
                                              return absl::OkStatus();
                                            }),
                      IsOk());
        }) {
    while (!fake.load_steps().wanted()) std::this_thread::yield();
  }

  void AwaitBegin() { begun_.WaitForNotification(); }
  void End() { go_on_.Notify(); }
  bool begun() const { return begun_.HasBeenNotified(); }
  int launches() const { return launches_; }  // when it began

 private:
  absl::Notification begun_;
  absl::Notification go_on_;
  int launches_ = 0;
  Thread thread_;
};

TEST_F(WorkerLoopTest, AnIdleDeviceIsALoadersAtOnce) {
  Start(TestConfig(), {.run = FakeRun::kInstant, .load_steps = true});
  StepOfALoader loader(*fake_);
  loader.AwaitBegin();
  loader.End();
}

TEST_F(WorkerLoopTest, AStepBeginsWhenNoBatchRunsAndTheNextWaitsForIt) {
  Start(TestConfig(), {.run = FakeRun::kManual,
                       .rung_time = [](int) { return absl::Seconds(1); },
                       .load_steps = true});
  Offer(0);
  fake_->AwaitLaunches(1);
  StepOfALoader loader(*fake_);
  Offer(1);
  EXPECT_FALSE(loader.begun());
  fake_->Finish();
  loader.AwaitBegin();
  EXPECT_EQ(loader.launches(), 1);
  EXPECT_THAT(tasks_[0].Await(), IsOk());  // beside the step
  EXPECT_EQ(fake_->launches(), 1);
  loader.End();
  fake_->AwaitLaunches(2);
  fake_->Finish();
  EXPECT_THAT(tasks_[1].Await(), IsOk());
}

// A step of 2 ms has been, and a batch: the next one is due 8 ms after it,
// which makes a fifth of the time.
TEST_F(WorkerLoopTest, WhileBatchesComeLoadersHaveTheirShareOfTheTime) {
  Start(TestConfig(), {.run = FakeRun::kInstant, .load_steps = true});
  {
    StepOfALoader loader(*fake_);
    loader.AwaitBegin();
    clock_.Advance(absl::Milliseconds(2));
    loader.End();
  }
  const absl::Time end = clock_.Now();
  EXPECT_THAT(Offer(0).Await(), IsOk());
  StepOfALoader next(*fake_);
  clock_.AwaitDeadline(end + absl::Milliseconds(8));
  EXPECT_FALSE(next.begun());
  EXPECT_THAT(Offer(1).Await(), IsOk());  // before the step, though it waits
  EXPECT_FALSE(next.begun());
  clock_.Advance(absl::Milliseconds(8));
  next.AwaitBegin();
  next.End();
}

TEST_F(WorkerLoopTest, ALoaderWhoseShareIsAllTakesTurnsWithBatches) {
  Serve(std::make_unique<TestModel>(1, TestConfig()),
        {.run = FakeRun::kInstant, .load_steps = true}, {{}},
        {.load_share = 1});
  for (int i = 0; i < 2; ++i) {
    StepOfALoader loader(*fake_);
    loader.AwaitBegin();
    clock_.Advance(absl::Milliseconds(2));
    loader.End();
    EXPECT_THAT(Offer(i).Await(), IsOk());
  }
}

TEST_F(WorkerLoopTest, WhatExpiresDuringAStepIsAnswered) {
  Start(TestConfig(), {.run = FakeRun::kInstant, .load_steps = true});
  StepOfALoader loader(*fake_);
  loader.AwaitBegin();
  tasks_.emplace_back(7).Timeout(absl::Milliseconds(1), clock_.Now());
  ASSERT_THAT(worker_->Offer(1, tasks_.back()), IsOk());
  clock_.AwaitDeadline(clock_.Now() + absl::Milliseconds(1));
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_THAT(tasks_.back().Await(),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(fake_->launches(), 0);
  loader.End();
}

}  // namespace
}  // namespace reprise
