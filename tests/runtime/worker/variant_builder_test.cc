#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/thread.h"
#include "runtime/worker/device_worker.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/fake_device.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/worker_testing.h"

namespace reprise {
namespace {

using ::reprise::testing::FakeClock;
using ::reprise::testing::FakeDevice;
using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::reprise::testing::TestConfig;
using ::reprise::testing::TestModel;
using ::reprise::testing::TestSignature;
using ::reprise::testing::TestTask;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A model "m" whose rows have `n` elements, n free.
class VariantBuilderTest : public ::testing::Test {
 protected:
  // The worker waits for the outputs that it gave out.
  ~VariantBuilderTest() override {
    fake_.FinishAll();
    worker_->Stop(clock_.Now());
    for (TestTask& task : tasks_) task.DropOutput();
  }

  void Start(ModelConfig config, const std::vector<VariantKey>& keys = {}) {
    model_ = std::make_unique<TestModel>(1, std::move(config),
                                         TestSignature(8, kFreeDim));
    auto worker = DeviceWorker::Create(fake_.factory(), {}, clock_, registry_);
    ASSERT_THAT(worker, IsOk());
    worker_ = *std::move(worker);
    worker_->Add(model_->Make(fake_, keys));
    prepared_ = fake_.prepares();
  }

  TestTask& Make(int64_t tag, int64_t n) {
    TestTask& task = tasks_.emplace_back(tag, 1, n);
    return task.Variant(n);
  }

  TestTask& Offer(int64_t tag, int64_t n) {
    TestTask& task = Make(tag, n);
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

  int built() const { return fake_.prepares() - prepared_; }

  FakeClock clock_;
  FakeDevice fake_{clock_};
  prometheus::Registry registry_;
  std::deque<TestTask> tasks_;
  std::unique_ptr<TestModel> model_;
  std::unique_ptr<DeviceWorker> worker_;
  int prepared_ = 0;
};

TEST_F(VariantBuilderTest, ConfiguredVariantsNeedNoBuild) {
  Start(TestConfig(), {{2}, {4}});
  Use(2);
  Use(4);
  EXPECT_EQ(built(), 0);
}

TEST_F(VariantBuilderTest, MakesAVariantOnDemandOnce) {
  Start(TestConfig(), {{2}});
  Use(3);
  Use(3);
  EXPECT_EQ(built(), 1);
}

TEST_F(VariantBuilderTest, OthersAreServedWhileAVariantIsMade) {
  Start(TestConfig(), {{2}});
  fake_.HoldPrepare(true);
  TestTask& waiting = Offer(1, 3);
  fake_.AwaitPrepares(prepared_ + 1);
  Use(2);
  EXPECT_FALSE(waiting.done());
  fake_.HoldPrepare(false);
  EXPECT_THAT(waiting.Await(), IsOk());
}

TEST_F(VariantBuilderTest, EqualBuildsCoalesce) {
  Start(TestConfig());
  fake_.HoldPrepare(true);
  TestTask& first = Offer(1, 3);
  fake_.AwaitPrepares(prepared_ + 1);
  TestTask& second = Offer(2, 3);
  fake_.HoldPrepare(false);
  EXPECT_THAT(first.Await(), IsOk());
  EXPECT_THAT(second.Await(), IsOk());
  EXPECT_EQ(built(), 1);
}

TEST_F(VariantBuilderTest, ARequestExpiresWhileItsVariantIsMade) {
  Start(TestConfig());
  fake_.HoldPrepare(true);
  TestTask& task = Make(1, 3);
  task.Timeout(absl::Milliseconds(5), clock_.Now());
  ASSERT_THAT(worker_->Offer(1, task), IsOk());
  clock_.AwaitDeadline(clock_.Now() + absl::Milliseconds(5));
  clock_.Advance(absl::Milliseconds(5));
  EXPECT_THAT(task.Await(), StatusIs(absl::StatusCode::kDeadlineExceeded));
  fake_.HoldPrepare(false);
}

TEST_F(VariantBuilderTest, FailedDimsAreRememberedAndRefused) {
  Start(TestConfig(), {{2}});
  fake_.FailPrepare({5}, absl::InvalidArgumentError("node 3 'reshape'"));
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

TEST_F(VariantBuilderTest, MemoryThatWasNotThereIsAskedForAgain) {
  Start(TestConfig());
  fake_.FailPrepare({5}, absl::ResourceExhaustedError("no memory"));
  EXPECT_THAT(Offer(1, 5).Await(),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(Offer(2, 5).Await(),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(built(), 2);
}

TEST_F(VariantBuilderTest, TheLeastRecentlyUsedLeavesForANewOne) {
  ModelConfig config = TestConfig();
  config.batch.max_variants = 2;
  Start(std::move(config));
  Use(3);
  clock_.Advance(absl::Milliseconds(1));
  Use(4);
  clock_.Advance(absl::Milliseconds(1));
  Use(3);
  Use(5);  // 4 leaves
  EXPECT_EQ(fake_.live_executables(), 2);
  EXPECT_EQ(built(), 3);
  Use(3);
  EXPECT_EQ(built(), 3);
  Use(4);
  EXPECT_EQ(built(), 4);
  EXPECT_EQ(fake_.wrong_thread_calls(), 0);
}

TEST_F(VariantBuilderTest, AVariantInUseDoesNotLeave) {
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

TEST_F(VariantBuilderTest, ConfiguredVariantsNeverLeave) {
  ModelConfig config = TestConfig();
  config.batch.max_variants = 1;
  Start(std::move(config), {{2}});
  TestTask& task = Make(1, 3);
  EXPECT_THAT(worker_->Offer(1, task),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("max_variants"), HasSubstr("n=2"))));
  EXPECT_EQ(built(), 0);
}

TEST_F(VariantBuilderTest, DimsOutsideOfTheirRangeAreRefused) {
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

TEST_F(VariantBuilderTest, ADimWithoutARangeMayBeZero) {
  Start(TestConfig());
  TestTask& task = Offer(1, 0);
  EXPECT_THAT(task.Await(), IsOk());
  EXPECT_EQ(built(), 1);
}

TEST_F(VariantBuilderTest, RemoveWaitsForABuildAndKeepsNothing) {
  Start(TestConfig());
  fake_.HoldPrepare(true);
  TestTask& task = Offer(1, 3);
  fake_.AwaitPrepares(prepared_ + 1);
  Thread remover("remover", [&] { worker_->Remove(1); });
  EXPECT_THAT(task.Await(), StatusIs(absl::StatusCode::kUnavailable));
  fake_.HoldPrepare(false);
  remover.Join();
  EXPECT_EQ(fake_.live_models(), 0);
  EXPECT_EQ(fake_.live_executables(), 0);
}

TEST_F(VariantBuilderTest, DifferentVariantsAreNeverInOneBatch) {
  ModelConfig config = TestConfig();
  config.batch.max_queue_delay = absl::Milliseconds(1);
  Start(std::move(config), {{2}, {3}});
  TestTask& two = Offer(20, 2);
  TestTask& three = Offer(30, 3);
  clock_.AwaitDeadline(clock_.Now() + absl::Milliseconds(1));
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_THAT(two.Await(), IsOk());
  EXPECT_THAT(three.Await(), IsOk());
  EXPECT_EQ(fake_.launches(), 2);
}

}  // namespace
}  // namespace reprise
