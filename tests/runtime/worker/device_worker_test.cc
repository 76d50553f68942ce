#include "runtime/worker/device_worker.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/thread.h"
#include "runtime/worker/retry_after.h"
#include "tests/testing/fake_device.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/worker_testing.h"

namespace reprise {
namespace {

using ::reprise::testing::FakeDevice;
using ::reprise::testing::FakeRun;
using ::reprise::testing::IsOk;
using ::reprise::testing::kFakeArenaBytes;
using ::reprise::testing::kFakeSlotBytes;
using ::reprise::testing::kFakeWeightBytes;
using ::reprise::testing::StatusIs;
using ::reprise::testing::TestConfig;
using ::reprise::testing::TestModel;
using ::reprise::testing::TestSignature;
using ::reprise::testing::TestTask;
using ::reprise::testing::WorkerFixture;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DeviceWorkerTest : public WorkerFixture {};

TEST_F(DeviceWorkerTest, FailsAsItsFactoryDoes) {
  const auto factory = []() -> absl::StatusOr<std::unique_ptr<Device>> {
    return absl::NotFoundError("no such device");
  };
  EXPECT_THAT(DeviceWorker::Create(factory, {}, clock_, registry_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no such")));
}

TEST_F(DeviceWorkerTest, AnswersEachRequestWithItsOwnRows) {
  FakeDevice fake(clock_);
  TestModel model(1, TestConfig());
  auto worker = MakeWorker(fake);
  worker->Add(model.Make(fake));
  TestTask first(100, 3);
  TestTask second(200);
  ASSERT_THAT(worker->Offer(1, first), IsOk());
  ASSERT_THAT(worker->Offer(1, second), IsOk());
  EXPECT_THAT(first.Await(), IsOk());
  EXPECT_THAT(second.Await(), IsOk());
  EXPECT_THAT(first.rows_answered(), ElementsAre(100, 101, 102));
  EXPECT_THAT(second.rows_answered(), ElementsAre(200));
}

// Arenas are a lane's, not a model's.
TEST_F(DeviceWorkerTest, TheMemoryOfItsModelsIsShown) {
  const auto gauge = [&](const std::string& name, const std::string& pool) {
    for (const prometheus::MetricFamily& family : registry_.Collect()) {
      for (const prometheus::ClientMetric& metric : family.metric) {
        if (family.name != name) continue;
        if (pool.empty() || metric.label[1].value == pool) {
          return metric.gauge.value;
        }
      }
    }
    return -1.0;
  };
  ModelConfig two_lanes = TestConfig();
  two_lanes.instances = 2;
  TestModel first(1, two_lanes);
  TestModel second(2, TestConfig());
  FakeDevice fake(clock_);
  auto worker = MakeWorker(fake);
  EXPECT_EQ(gauge("reprise_device_bytes", "weights"), 0);
  worker->Add(first.Make(fake));
  worker->Add(second.Make(fake));
  EXPECT_EQ(gauge("reprise_device_bytes", "weights"), 2 * kFakeWeightBytes);
  EXPECT_EQ(gauge("reprise_device_bytes", "arena"), 2 * kFakeArenaBytes);
  EXPECT_EQ(gauge("reprise_pinned_bytes", ""), kFakeSlotBytes);
  worker->Remove(1);
  EXPECT_EQ(gauge("reprise_device_bytes", "weights"), kFakeWeightBytes);
  EXPECT_EQ(gauge("reprise_device_bytes", "arena"), kFakeArenaBytes);
  worker->Remove(2);
  EXPECT_EQ(gauge("reprise_device_bytes", "weights"), 0);
  EXPECT_EQ(gauge("reprise_device_bytes", "arena"), 0);
}

TEST_F(DeviceWorkerTest, RefusesWhatItCannotServe) {
  FakeDevice fake(clock_);
  TestModel model(1, TestConfig());
  auto worker = MakeWorker(fake);
  worker->Add(model.Make(fake));
  TestTask large(0, 9);
  TestTask unknown(0);
  EXPECT_THAT(worker->Offer(1, large),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("model 'm' version 1"), HasSubstr("9"),
                             HasSubstr("maximum is 8"))));
  EXPECT_THAT(worker->Offer(2, unknown),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(large.completions(), 0);
}

TEST_F(DeviceWorkerTest, RefusesTheRequestBeyondTheBoundEveryTime) {
  FakeDevice fake(clock_, {.run = FakeRun::kManual});
  ModelConfig config = TestConfig({1});
  config.batch.max_queue_requests = 2;
  TestModel model(1, std::move(config), TestSignature(1));
  auto worker = MakeWorker(fake);
  worker->Add(model.Make(fake));
  TestTask running(0);
  ASSERT_THAT(worker->Offer(1, running), IsOk());
  fake.AwaitLaunches(1);
  TestTask waiting[2] = {TestTask(1), TestTask(2)};
  ASSERT_THAT(worker->Offer(1, waiting[0]), IsOk());
  ASSERT_THAT(worker->Offer(1, waiting[1]), IsOk());
  for (int i = 0; i < 50; ++i) {
    TestTask refused(3);
    const absl::Status status = worker->Offer(1, refused);
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted,
                                 HasSubstr("the limit is 2")));
    EXPECT_GT(RetryAfter(status), absl::ZeroDuration());
    EXPECT_EQ(refused.completions(), 0);
  }
  fake.FinishAll();
  EXPECT_THAT(waiting[1].Await(), IsOk());
}

TEST_F(DeviceWorkerTest, CancelAnswersAWaitingRequestAtOnce) {
  FakeDevice fake(clock_, {.run = FakeRun::kManual});
  TestModel model(1, TestConfig({1}), TestSignature(1));
  auto worker = MakeWorker(fake);
  worker->Add(model.Make(fake));
  TestTask running(0);
  ASSERT_THAT(worker->Offer(1, running), IsOk());
  fake.AwaitLaunches(1);
  TestTask waiting(7);
  ASSERT_THAT(worker->Offer(1, waiting), IsOk());
  worker->Cancel(1, waiting);
  EXPECT_TRUE(waiting.done());
  EXPECT_THAT(waiting.Await(), StatusIs(absl::StatusCode::kCancelled));
  worker->Cancel(1, running);  // it runs: completed as it ends
  EXPECT_FALSE(running.done());
  fake.Finish();
  EXPECT_THAT(running.Await(), IsOk());
  worker->Cancel(1, running);
  EXPECT_EQ(running.completions(), 1);
  EXPECT_EQ(fake.launches(), 1);
}

TEST_F(DeviceWorkerTest, RemoveAnswersWhatWaitsAndFinishesWhatRuns) {
  FakeDevice fake(clock_, {.run = FakeRun::kManual});
  TestModel model(1, TestConfig({1}), TestSignature(1));
  auto worker = MakeWorker(fake);
  worker->Add(model.Make(fake));
  TestTask running(5);
  ASSERT_THAT(worker->Offer(1, running), IsOk());
  fake.AwaitLaunches(1);
  TestTask waiting(6);
  ASSERT_THAT(worker->Offer(1, waiting), IsOk());
  Thread remover("remover", [&] { worker->Remove(1); });
  EXPECT_THAT(waiting.Await(),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("unloaded")));
  TestTask late(7);
  EXPECT_THAT(worker->Offer(1, late), StatusIs(absl::StatusCode::kUnavailable));
  fake.Finish();
  EXPECT_THAT(running.Await(), IsOk());
  EXPECT_THAT(running.rows_answered(), ElementsAre(5));
  EXPECT_EQ(fake.live_executables(), 1);  // its output is still held
  running.DropOutput();
  remover.Join();
  EXPECT_EQ(fake.live_executables(), 0);
  EXPECT_EQ(fake.live_models(), 0);
  EXPECT_EQ(fake.wrong_thread_calls(), 0);
}

TEST_F(DeviceWorkerTest, RemoveOfAnUnknownModelReturns) {
  FakeDevice fake(clock_);
  auto worker = MakeWorker(fake);
  worker->Remove(17);
}

TEST_F(DeviceWorkerTest, StopAnswersEverythingAccepted) {
  FakeDevice fake(clock_);
  ModelConfig config = TestConfig();
  config.batch.max_queue_delay = absl::Seconds(10);  // not while stopping
  TestModel model(1, std::move(config));
  auto worker = MakeWorker(fake);
  worker->Add(model.Make(fake));
  TestTask task(1);
  ASSERT_THAT(worker->Offer(1, task), IsOk());
  EXPECT_TRUE(worker->Stop(absl::InfiniteFuture()));
  EXPECT_TRUE(task.done());
  EXPECT_THAT(task.Await(), IsOk());
  TestTask late(2);
  EXPECT_THAT(worker->Offer(1, late), StatusIs(absl::StatusCode::kUnavailable,
                                               HasSubstr("shutting down")));
}

TEST_F(DeviceWorkerTest, StopAnswersWhatIsLeftAtItsDeadline) {
  FakeDevice fake(clock_, {.run = FakeRun::kManual});
  TestModel model(1, TestConfig({1}), TestSignature(1));
  auto worker = MakeWorker(fake);
  worker->Add(model.Make(fake));
  TestTask running(1);
  TestTask waiting(2);
  ASSERT_THAT(worker->Offer(1, running), IsOk());
  fake.AwaitLaunches(1);
  ASSERT_THAT(worker->Offer(1, waiting), IsOk());
  EXPECT_FALSE(worker->Stop(clock_.Now()));
  EXPECT_THAT(running.Await(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(waiting.Await(), StatusIs(absl::StatusCode::kUnavailable));
  fake.FinishAll();
  worker.reset();
  EXPECT_EQ(running.completions(), 1);
  EXPECT_EQ(fake.launches(), 1);
}

TEST_F(DeviceWorkerTest, DestroysEverythingOnItsThread) {
  FakeDevice fake(clock_);
  TestModel one(1, TestConfig());
  TestModel two(2, TestConfig(), TestSignature(), "other");
  auto worker = MakeWorker(fake);
  worker->Add(one.Make(fake));
  worker->Add(two.Make(fake));
  EXPECT_EQ(fake.live_executables(), 2);
  worker.reset();
  EXPECT_EQ(fake.live_executables(), 0);
  EXPECT_EQ(fake.live_models(), 0);
  EXPECT_EQ(fake.live_devices(), 0);
  EXPECT_EQ(fake.wrong_thread_calls(), 0);
}

TEST_F(DeviceWorkerTest, LoadIsThePredictedTimeOfWhatWaitsAndRuns) {
  FakeDevice fake(clock_, {.run = FakeRun::kManual,
                           .rung_time = [](int) { return absl::Seconds(1); }});
  TestModel model(1, TestConfig({1}), TestSignature(1));
  auto worker = MakeWorker(fake);
  worker->Add(model.Make(fake));
  EXPECT_EQ(worker->load().outstanding, absl::ZeroDuration());
  TestTask a(1);
  TestTask b(2);
  ASSERT_THAT(worker->Offer(1, a), IsOk());
  ASSERT_THAT(worker->Offer(1, b), IsOk());
  EXPECT_GE(worker->load().outstanding, absl::Seconds(2));
  EXPECT_LE(worker->load().outstanding, absl::Seconds(2.1));
  worker->Cancel(1, b);
  fake.FinishAll();
  EXPECT_THAT(a.Await(), IsOk());
  EXPECT_TRUE(worker->Stop(absl::InfiniteFuture()));
  EXPECT_EQ(worker->load().outstanding, absl::ZeroDuration());
}

TEST_F(DeviceWorkerTest, ARunLongerThanTheWatchdogMakesItStuck) {
  FakeDevice fake(clock_, {.run = FakeRun::kManual, .rung_time = [](int) {
                             return absl::Milliseconds(100);
                           }});
  TestModel model(1, TestConfig({1}), TestSignature(1));
  auto worker = MakeWorker(fake, {.watchdog = absl::Seconds(1)});
  worker->Add(model.Make(fake));
  TestTask task(1);
  ASSERT_THAT(worker->Offer(1, task), IsOk());
  fake.AwaitLaunches(1);
  clock_.Advance(absl::Seconds(1.9));
  EXPECT_FALSE(worker->load().stuck);  // 20 x p99.9 is 2 s
  clock_.Advance(absl::Seconds(0.2));
  EXPECT_TRUE(worker->load().stuck);
  fake.Finish();
  EXPECT_THAT(task.Await(), IsOk());
  TestTask next(2);
  ASSERT_THAT(worker->Offer(1, next), IsOk());
  EXPECT_FALSE(worker->load().stuck);
  fake.FinishAll();
  EXPECT_THAT(next.Await(), IsOk());
}

}  // namespace
}  // namespace reprise
