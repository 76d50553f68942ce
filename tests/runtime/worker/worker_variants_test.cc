#include <memory>
#include <string>
#include <utility>
#include <vector>

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
using ::reprise::testing::FakePrepare;
using ::reprise::testing::FakeRun;
using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::reprise::testing::TestConfig;
using ::reprise::testing::TestModel;
using ::reprise::testing::TestSignature;
using ::reprise::testing::TestTask;
using ::reprise::testing::WorkerFixture;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A model "m" whose rows have `n` elements, n free. With one rung a variant is
// prepared in one go.
class WorkerVariantsTest : public WorkerFixture {
 protected:
  explicit WorkerVariantsTest(FakeDeviceOptions options = {.slots = 8})
      : options_(std::move(options)) {}

  void Start(ModelConfig config, const std::vector<VariantKey>& keys = {}) {
    Serve(std::make_unique<TestModel>(1, std::move(config),
                                      TestSignature(8, kFreeDim)),
          options_, keys);
    prepared_ = fake_->prepares();
  }

  TestTask& Make(int64_t tag, int64_t n, int rows = 1) {
    TestTask& task = tasks_.emplace_back(tag, rows, n);
    return task.Variant(n);
  }

  TestTask& Offer(int64_t tag, int64_t n, int rows = 1) {
    TestTask& task = Make(tag, n, rows);
    EXPECT_THAT(worker_->Offer(1, task), IsOk());
    return task;
  }

  // One request of `n`, answered and forgotten.
  void Use(int64_t n) {
    TestTask& task = Offer(n, n);
    EXPECT_THAT(task.Await(), IsOk());
    EXPECT_THAT(task.rows_answered(), ElementsAre(n));
    task.DropOutput();
  }

  int built() const { return fake_->prepares() - prepared_; }

  const FakeDeviceOptions options_;
  TestModel other_{2, TestConfig({8}), TestSignature(8, kFreeDim), "other"};
  int prepared_ = 0;
};

TEST_F(WorkerVariantsTest, ConfiguredVariantsNeedNoBuild) {
  Start(TestConfig(), {{2}, {4}});
  Use(2);
  Use(4);
  EXPECT_EQ(built(), 0);
}

// A device that runs a batch on the thread that offers it.
class InlineTest : public WorkerVariantsTest {
 protected:
  InlineTest()
      : WorkerVariantsTest(
            {.run = FakeRun::kInstant, .slots = 8, .runs_inline = true}) {}
};

TEST_F(InlineTest, WhatWaitsForItsVariantIsNotRunByTheThreadThatOffersIt) {
  Start(TestConfig({8}), {{2}});
  Use(2);
  clock_.AwaitDeadline(clock_.Now() + absl::Milliseconds(100));
  clock_.Advance(absl::Milliseconds(1));
  fake_->HoldPrepare(true);
  // It expires before the worker would look: the worker is to be told.
  TestTask& task = Make(0, 3).Timeout(absl::Milliseconds(5), clock_.Now());
  ASSERT_THAT(worker_->Offer(1, task), IsOk());
  EXPECT_FALSE(task.done());
  fake_->HoldPrepare(false);
  EXPECT_THAT(task.Await(), IsOk());
}

TEST_F(WorkerVariantsTest, MemoryOfAVariantIsShown) {
  const auto arena = [&] {
    for (const prometheus::MetricFamily& family : registry_.Collect()) {
      for (const prometheus::ClientMetric& metric : family.metric) {
        if (family.name == "reprise_device_bytes" &&
            metric.label[1].value == "arena") {
          return metric.gauge.value;
        }
      }
    }
    return -1.0;
  };
  Start(TestConfig({1}));
  EXPECT_EQ(arena(), 0);
  Use(3);
  TestModel other(2, TestConfig({1}));
  worker_->Add(other.Make(*fake_));  // on the same lane
  EXPECT_EQ(arena(), testing::kFakeArenaBytes);
  worker_->Remove(2);
  EXPECT_EQ(arena(), testing::kFakeArenaBytes);
}

TEST_F(WorkerVariantsTest, MakesAVariantOnDemandOnce) {
  Start(TestConfig({8}), {{2}});
  Use(3);
  Use(3);
  EXPECT_EQ(built(), 1);
}

TEST_F(WorkerVariantsTest, OthersAreServedWhileAVariantIsMade) {
  Start(TestConfig(), {{2}});
  fake_->HoldPrepare(true);
  TestTask& waiting = Offer(1, 3);
  fake_->AwaitPrepares(prepared_ + 1);
  Use(2);
  EXPECT_FALSE(waiting.done());
  fake_->HoldPrepare(false);
  EXPECT_THAT(waiting.Await(), IsOk());
}

TEST_F(WorkerVariantsTest, EqualBuildsCoalesce) {
  Start(TestConfig({8}));
  fake_->HoldPrepare(true);
  TestTask& first = Offer(1, 3);
  fake_->AwaitPrepares(prepared_ + 1);
  TestTask& second = Offer(2, 3);
  fake_->HoldPrepare(false);
  EXPECT_THAT(first.Await(), IsOk());
  EXPECT_THAT(second.Await(), IsOk());
  EXPECT_EQ(built(), 1);
}

TEST_F(WorkerVariantsTest, ARequestExpiresWhileItsVariantIsMade) {
  Start(TestConfig());
  fake_->HoldPrepare(true);
  TestTask& task = Make(1, 3);
  task.Timeout(absl::Milliseconds(5), clock_.Now());
  ASSERT_THAT(worker_->Offer(1, task), IsOk());
  clock_.AwaitDeadline(clock_.Now() + absl::Milliseconds(5));
  clock_.Advance(absl::Milliseconds(5));
  EXPECT_THAT(task.Await(), StatusIs(absl::StatusCode::kDeadlineExceeded));
  fake_->HoldPrepare(false);
}

TEST_F(WorkerVariantsTest, FailedDimsAreRememberedAndRefused) {
  Start(TestConfig(), {{2}});
  fake_->FailPrepare({5}, absl::InvalidArgumentError("node 3 'reshape'"));
  TestTask& task = Offer(1, 5);
  const auto refused =
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("model 'm' version 1"), HasSubstr("n=5"),
                     HasSubstr("node 3 'reshape'"), HasSubstr("n=2")));
  EXPECT_THAT(task.Await(), refused);
  TestTask& again = Make(2, 5);
  EXPECT_THAT(worker_->Offer(1, again), refused);
  EXPECT_EQ(built(), 1);
  EXPECT_EQ(again.completions(), 0);
}

TEST_F(WorkerVariantsTest, MemoryThatWasNotThereIsAskedForAgain) {
  Start(TestConfig());
  fake_->FailPrepare({5}, absl::ResourceExhaustedError("no memory"));
  EXPECT_THAT(Offer(1, 5).Await(),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(Offer(2, 5).Await(),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(built(), 2);
}

TEST_F(WorkerVariantsTest, TheLeastRecentlyUsedLeavesForANewOne) {
  ModelConfig config = TestConfig({8});
  config.batch.max_variants = 2;
  Start(std::move(config));
  Use(3);
  clock_.Advance(absl::Milliseconds(1));
  Use(4);
  clock_.Advance(absl::Milliseconds(1));
  Use(3);
  Use(5);  // 4 leaves
  EXPECT_EQ(fake_->live_executables(), 2);
  EXPECT_EQ(built(), 3);
  Use(3);
  EXPECT_EQ(built(), 3);
  Use(4);
  EXPECT_EQ(built(), 4);
  EXPECT_EQ(fake_->wrong_thread_calls(), 0);
}

TEST_F(WorkerVariantsTest, BatchesAddUpWhateverVariantsAndLoadsHaveLeft) {
  const auto sum = [&](const std::string& name) {
    double all = 0;
    for (const prometheus::MetricFamily& family : registry_.Collect()) {
      if (family.name != name) continue;
      for (const prometheus::ClientMetric& metric : family.metric) {
        all += metric.counter.value +
               static_cast<double>(metric.histogram.sample_count);
      }
    }
    return all;
  };
  ModelConfig config = TestConfig({8});
  config.batch.max_variants = 2;
  Start(std::move(config));
  for (const int64_t n : {3, 4, 5, 6}) Use(n);
  TestModel reloaded(2, TestConfig({4}), TestSignature(8, kFreeDim));
  worker_->Add(reloaded.Make(*fake_, {{3}}));
  worker_->Remove(1);
  TestTask& task = Make(3, 3);
  ASSERT_THAT(worker_->Offer(2, task), IsOk());
  EXPECT_THAT(task.Await(), IsOk());
  task.DropOutput();
  EXPECT_EQ(sum("reprise_batches_total"), 5);
  EXPECT_EQ(sum("reprise_cpu_time_seconds"), 5);
  EXPECT_EQ(sum("reprise_batch_rows"), 5);
  EXPECT_EQ(sum("reprise_batch_dispatch_total"), 5);
  worker_->Remove(2);
}

TEST_F(WorkerVariantsTest, TheLogHasALineForEachVariantThatComesOrGoes) {
  ModelConfig config = TestConfig();
  config.batch.max_variants = 1;
  Start(std::move(config));
  ::testing::internal::CaptureStderr();
  Use(3);
  fake_->AwaitPrepares(prepared_ + 2);  // its first rung, and all of them
  Use(4);
  const std::string log = ::testing::internal::GetCapturedStderr();
  const size_t made = log.find("variant made model=m dims=\"n=3\"");
  EXPECT_NE(made, std::string::npos) << log;
  EXPECT_EQ(log.find("variant made model=m dims=\"n=3\"", made + 1),
            std::string::npos)
      << log;
  EXPECT_THAT(log, AllOf(HasSubstr("ladder=\"1,2,4,8\""),
                         HasSubstr("variant evicted model=m dims=\"n=3\"")));
}

TEST_F(WorkerVariantsTest, AVariantInUseDoesNotLeave) {
  ModelConfig config = TestConfig();
  config.batch.max_variants = 1;
  Start(std::move(config));
  TestTask& held = Offer(3, 3);
  EXPECT_THAT(held.Await(), IsOk());  // its output is held
  TestTask& waiting = Offer(4, 4);
  EXPECT_FALSE(waiting.done());
  held.DropOutput();
  EXPECT_THAT(waiting.Await(), IsOk());
}

TEST_F(WorkerVariantsTest, ConfiguredVariantsNeverLeave) {
  ModelConfig config = TestConfig();
  config.batch.max_variants = 1;
  Start(std::move(config), {{2}});
  TestTask& task = Make(1, 3);
  EXPECT_THAT(worker_->Offer(1, task),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("max_variants"), HasSubstr("n=2"))));
  EXPECT_EQ(built(), 0);
}

TEST_F(WorkerVariantsTest, DimsOutsideOfTheirRangeAreRefused) {
  ModelConfig config = TestConfig();
  config.dims["n"] = {.low = 2, .high = 6};
  Start(std::move(config));
  for (const int64_t n : {0, 1, 7}) {
    TestTask& task = Make(1, n);
    EXPECT_THAT(worker_->Offer(1, task),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("dim 'n'"), HasSubstr("2 to 6"))));
  }
  TestTask& none = tasks_.emplace_back(1);
  EXPECT_THAT(worker_->Offer(1, none),
              StatusIs(absl::StatusCode::kInvalidArgument));
  Use(6);
}

TEST_F(WorkerVariantsTest, ADimWithoutARangeMayBeZero) {
  Start(TestConfig({8}));
  TestTask& task = Offer(1, 0);
  EXPECT_THAT(task.Await(), IsOk());
  EXPECT_EQ(built(), 1);
}

TEST_F(WorkerVariantsTest, RemoveWaitsForABuildAndKeepsNothing) {
  Start(TestConfig());
  fake_->HoldPrepare(true);
  TestTask& task = Offer(1, 3);
  fake_->AwaitPrepares(prepared_ + 1);
  Thread remover("remover", [&] { worker_->Remove(1); });
  EXPECT_THAT(task.Await(), StatusIs(absl::StatusCode::kUnavailable));
  fake_->HoldPrepare(false);
  remover.Join();
  EXPECT_EQ(fake_->live_models(), 0);
  EXPECT_EQ(fake_->live_executables(), 0);
}

TEST_F(WorkerVariantsTest, TheRungThatIsNeededIsPreparedFirst) {
  Start(TestConfig());
  fake_->HoldPrepareAfter(prepared_ + 1);
  TestTask& first = Offer(10, 3, 3);
  EXPECT_THAT(first.Await(), IsOk());
  EXPECT_THAT(first.rows_answered(), ElementsAre(10, 11, 12));
  EXPECT_EQ(fake_->launch_log()[0].rung, 4);
  fake_->AwaitPrepares(prepared_ + 2);
  const std::vector<FakePrepare> log = fake_->prepare_log();
  EXPECT_THAT(log[log.size() - 2].sizes, ElementsAre(4));
  EXPECT_THAT(log[log.size() - 1].sizes, ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(Offer(20, 3).Await(), IsOk());  // on the rung that there is
  EXPECT_EQ(fake_->launch_log()[1].rung, 4);
  TestTask& larger = Offer(30, 3, 8);
  TestTask& behind = Offer(40, 3);
  EXPECT_FALSE(larger.done());
  EXPECT_FALSE(behind.done());
  fake_->HoldPrepare(false);
  EXPECT_THAT(larger.Await(), IsOk());
  EXPECT_THAT(behind.Await(), IsOk());
  EXPECT_EQ(fake_->launch_log()[2].rung, 8);
}

TEST_F(WorkerVariantsTest, TheFirstRungIsThatOfTheLargestThatWaits) {
  Start(TestConfig());
  fake_->HoldPrepare(true);
  Offer(1, 2);  // the builder is busy with it
  fake_->AwaitPrepares(prepared_ + 1);
  for (const int rows : {1, 8, 2}) Offer(rows, 3, rows);
  fake_->HoldPrepare(false);
  for (TestTask& task : tasks_) EXPECT_THAT(task.Await(), IsOk());
  std::vector<int> sizes;
  for (const FakePrepare& prepare : fake_->prepare_log()) {
    if (prepare.dims[0] == 3 && sizes.empty()) sizes = prepare.sizes;
  }
  EXPECT_THAT(sizes, ElementsAre(8));
}

TEST_F(WorkerVariantsTest, AnotherVariantsFirstRungComesBeforeTheRest) {
  Start(TestConfig());
  fake_->HoldPrepare(true);
  TestTask& three = Offer(1, 3);
  fake_->AwaitPrepares(prepared_ + 1);
  TestTask& four = Offer(2, 4);
  fake_->HoldPrepareAfter(prepared_ + 2);
  EXPECT_THAT(three.Await(), IsOk());
  EXPECT_THAT(four.Await(), IsOk());
  fake_->HoldPrepare(false);
  fake_->AwaitPrepares(prepared_ + 4);
}

TEST_F(WorkerVariantsTest, EveryLaneGetsTheWholeLadder) {
  ModelConfig config = TestConfig();
  config.instances = 2;
  Start(std::move(config));
  EXPECT_THAT(Offer(1, 3).Await(), IsOk());
  fake_->AwaitPrepares(prepared_ + 3);
  const std::vector<FakePrepare> log = fake_->prepare_log();
  for (int lane = 0; lane < 2; ++lane) {
    const FakePrepare& prepare = log[log.size() - 2 + lane];
    EXPECT_THAT(prepare.sizes, ElementsAre(1, 2, 4, 8));
    EXPECT_EQ(prepare.lane, lane);
  }
}

TEST_F(WorkerVariantsTest, RowsThatCannotBePreparedAreRefused) {
  Start(TestConfig());
  fake_->HoldPrepareAfter(prepared_ + 1);
  EXPECT_THAT(Offer(1, 3, 3).Await(), IsOk());
  fake_->AwaitPrepares(prepared_ + 2);
  TestTask& larger = Offer(2, 3, 8);
  TestTask& behind = Offer(3, 3);
  fake_->FailPrepare({3}, absl::InvalidArgumentError("node 7"));
  fake_->HoldPrepare(false);
  const auto refused =
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("model 'm' version 1"), HasSubstr("n=3"),
                     HasSubstr("more than 4 rows"), HasSubstr("node 7")));
  EXPECT_THAT(larger.Await(), refused);
  EXPECT_THAT(behind.Await(), IsOk());
  TestTask& again = Make(4, 3, 5);
  EXPECT_THAT(worker_->Offer(1, again), refused);
  EXPECT_THAT(Offer(5, 3, 4).Await(), IsOk());
}

TEST_F(WorkerVariantsTest, MemoryForTheRestIsAskedForAgain) {
  Start(TestConfig());
  fake_->HoldPrepareAfter(prepared_ + 1);
  EXPECT_THAT(Offer(1, 3).Await(), IsOk());
  TestTask& larger = Offer(2, 3, 8);
  fake_->FailPrepare({3}, absl::ResourceExhaustedError("no memory"));
  fake_->HoldPrepare(false);
  EXPECT_THAT(larger.Await(), StatusIs(absl::StatusCode::kResourceExhausted));
  fake_->FailPrepare({3}, absl::OkStatus());
  EXPECT_THAT(Offer(3, 3, 8).Await(), IsOk());
}

TEST_F(WorkerVariantsTest, ACancelledLargeRequestHoldsNobodyUp) {
  Start(TestConfig());
  fake_->HoldPrepareAfter(prepared_ + 1);
  EXPECT_THAT(Offer(1, 3).Await(), IsOk());
  TestTask& larger = Offer(2, 3, 8);
  TestTask& behind = Make(3, 3);
  behind.Timeout(absl::Milliseconds(5), clock_.Now());
  ASSERT_THAT(worker_->Offer(1, behind), IsOk());
  clock_.AwaitDeadline(clock_.Now() + absl::Milliseconds(5));
  worker_->Cancel(1, larger);
  EXPECT_THAT(behind.Await(), IsOk());
  fake_->HoldPrepare(false);
}

TEST_F(WorkerVariantsTest, RemoveWaitsForTheRestOfALadder) {
  Start(TestConfig());
  fake_->HoldPrepareAfter(prepared_ + 1);
  TestTask& task = Offer(1, 3);
  EXPECT_THAT(task.Await(), IsOk());
  task.DropOutput();
  fake_->AwaitPrepares(prepared_ + 2);
  Thread remover("remover", [&] { worker_->Remove(1); });
  fake_->HoldPrepare(false);
  remover.Join();
  EXPECT_EQ(fake_->live_models(), 0);
  EXPECT_EQ(fake_->live_executables(), 0);
}

TEST_F(WorkerVariantsTest, WithOrderKeptACancelLetsTheNextRun) {
  ModelConfig config = TestConfig();
  config.batch.preserve_ordering = true;
  Start(std::move(config), {{4}});
  fake_->HoldPrepare(true);
  TestTask& oldest = Offer(1, 3);  // its variant is not made
  TestTask& hidden = Make(2, 4);
  hidden.Timeout(absl::Milliseconds(5), clock_.Now());
  ASSERT_THAT(worker_->Offer(1, hidden), IsOk());
  clock_.AwaitDeadline(clock_.Now() + absl::Milliseconds(5));  // it was seen
  EXPECT_FALSE(hidden.done());
  worker_->Cancel(1, oldest);
  EXPECT_THAT(hidden.Await(), IsOk());
  fake_->HoldPrepare(false);
}

TEST_F(WorkerVariantsTest, DifferentVariantsAreNeverInOneBatch) {
  ModelConfig config = TestConfig();
  config.batch.max_queue_delay = absl::Milliseconds(1);
  Start(std::move(config), {{2}, {3}});
  TestTask& two = Offer(20, 2);
  TestTask& three = Offer(30, 3);
  clock_.AwaitDeadline(clock_.Now() + absl::Milliseconds(1));
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_THAT(two.Await(), IsOk());
  EXPECT_THAT(three.Await(), IsOk());
  EXPECT_EQ(fake_->launches(), 2);
}

class ManualVariantsTest : public WorkerVariantsTest {
 protected:
  ManualVariantsTest()
      : WorkerVariantsTest({.run = FakeRun::kManual, .slots = 8}) {}

  // A model with room for one variant, of one rung: that of n = 3, with a
  // request behind a run of another model. One of n = 4 waits for its place.
  void WaitForRoom(absl::Duration timeout = absl::InfiniteDuration()) {
    ModelConfig config = TestConfig({8});
    config.batch.max_variants = 1;
    Start(std::move(config));
    TestTask& use = Offer(0, 3);
    fake_->Finish();
    ASSERT_THAT(use.Await(), IsOk());
    use.DropOutput();
    worker_->Add(other_.Make(*fake_, {{2}}));
    ASSERT_THAT(worker_->Offer(2, Make(1, 2)), IsOk());
    fake_->AwaitLaunches(2);
    last_ = &Make(2, 3);
    if (timeout != absl::InfiniteDuration()) {
      last_->Timeout(timeout, clock_.Now());
    }
    ASSERT_THAT(worker_->Offer(1, *last_), IsOk());
    wanted_ = &Offer(3, 4);
    // The builder comes to it first, and finds no room for it.
    clock_.Advance(absl::Microseconds(1));
    const int prepares = fake_->prepares();
    ASSERT_THAT(worker_->Offer(2, Make(4, 5)), IsOk());
    fake_->AwaitPrepares(prepares + 1);
    built_ = prepares + 1;
  }

  TestTask* last_ = nullptr;
  TestTask* wanted_ = nullptr;
  int built_ = 0;
};

TEST_F(ManualVariantsTest, TheLadderIsTakenOverBetweenBatches) {
  Start(TestConfig());
  fake_->HoldPrepareAfter(prepared_ + 1);
  TestTask& first = Offer(10, 3, 3);
  fake_->AwaitLaunches(1);
  fake_->AwaitPrepares(prepared_ + 2);
  TestTask& second = Offer(20, 3, 8);
  fake_->HoldPrepare(false);
  fake_->AwaitExecutables(2);
  EXPECT_EQ(fake_->launches(), 1);  // the first still runs
  fake_->Finish();
  EXPECT_THAT(first.Await(), IsOk());
  fake_->AwaitLaunches(2);
  EXPECT_EQ(fake_->launch_log()[1].rung, 8);
  EXPECT_EQ(fake_->live_executables(), 2);  // the first's output is held
  EXPECT_THAT(first.rows_answered(), ElementsAre(10, 11, 12));
  first.DropOutput();
  fake_->AwaitExecutables(1);
  fake_->Finish();
  EXPECT_THAT(second.Await(), IsOk());
  EXPECT_EQ(fake_->wrong_thread_calls(), 0);
}

TEST_F(ManualVariantsTest, ACancelMakesRoomForAnotherVariant) {
  WaitForRoom();
  worker_->Cancel(1, *last_);
  fake_->AwaitPrepares(built_ + 1);
  fake_->FinishAll();
  EXPECT_THAT(wanted_->Await(), IsOk());
}

TEST_F(ManualVariantsTest, AnExpiryMakesRoomForAnotherVariant) {
  WaitForRoom(absl::Microseconds(100));
  clock_.Advance(absl::Microseconds(100));
  EXPECT_THAT(last_->Await(), StatusIs(absl::StatusCode::kDeadlineExceeded));
  fake_->AwaitPrepares(built_ + 1);
  fake_->FinishAll();
  EXPECT_THAT(wanted_->Await(), IsOk());
}

TEST_F(ManualVariantsTest, WithOrderKeptTheVariantThatIsNeededLaterLeaves) {
  ModelConfig config = TestConfig({8});
  config.batch.max_variants = 1;
  config.batch.preserve_ordering = true;
  Start(std::move(config));
  TestTask& running = Offer(0, 4);
  fake_->AwaitLaunches(1);
  TestTask& next = Offer(1, 3);   // no room for its variant
  TestTask& later = Offer(2, 4);  // may not run before it
  fake_->FinishAll();
  EXPECT_THAT(running.Await(), IsOk());
  running.DropOutput();
  EXPECT_THAT(next.Await(), IsOk());
  next.DropOutput();
  EXPECT_THAT(later.Await(), IsOk());
  EXPECT_EQ(built(), 3);
  EXPECT_EQ(fake_->launch_log()[1].tags[0], 1);
}

}  // namespace
}  // namespace reprise
