#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "prometheus/metric_family.h"
#include "runtime/worker/device_worker.h"
#include "tests/testing/fake_device.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/worker_testing.h"

namespace reprise {
namespace {

using ::reprise::testing::FakeRun;
using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::reprise::testing::TestConfig;
using ::reprise::testing::TestModel;
using ::reprise::testing::TestTask;
using ::reprise::testing::WorkerFixture;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A batch from queue to answers. With one second a run, a full batch behind a
// running one is gathered early and staged.
class WorkerBatchesTest : public WorkerFixture {
 protected:
  void Start(ModelConfig config, FakeRun run = FakeRun::kManual) {
    Serve(std::make_unique<TestModel>(1, std::move(config)),
          {.run = run, .rung_time = [](int) { return absl::Seconds(1); }});
  }

  // Runs request 0, and stages a batch of two requests of two rows.
  void StageABatch() {
    Start(TestConfig({1, 4}));
    Offer(0);
    fake_->AwaitLaunches(1);
    Offer(10, 2);
    Offer(20, 2);
    AwaitSlots(2);
  }

  // Blocks until the worker has taken `count` slots: the fake hands them out
  // when a batch is formed.
  void AwaitSlots(int count) const {
    while (fake_->slots_out() < count) {
    }
  }

  double Value(const std::string& name, const std::string& label = "",
               const std::string& value = "") const {
    double sum = 0;
    for (const prometheus::MetricFamily& family : registry_.Collect()) {
      if (family.name != name) continue;
      for (const prometheus::ClientMetric& metric : family.metric) {
        bool match = label.empty();
        for (const auto& pair : metric.label) {
          match = match || (pair.name == label && pair.value == value);
        }
        if (!match) continue;
        sum += metric.counter.value + metric.gauge.value +
               static_cast<double>(metric.histogram.sample_count);
      }
    }
    return sum;
  }
};

TEST_F(WorkerBatchesTest, AStagedRequestIsCancelledAtOnceAndBecomesPadding) {
  StageABatch();
  worker_->Cancel(1, tasks_[1]);
  EXPECT_THAT(tasks_[1].Await(), StatusIs(absl::StatusCode::kCancelled));
  fake_->Finish();
  fake_->AwaitLaunches(2);
  EXPECT_THAT(fake_->launch_log()[1].tags, ElementsAre(20, 20, 20, 21));
  fake_->FinishAll();
  EXPECT_THAT(tasks_[2].Await(), IsOk());
  EXPECT_THAT(tasks_[2].rows_answered(), ElementsAre(20, 21));
}

TEST_F(WorkerBatchesTest, ABatchWithoutALiveRequestIsNeverSubmitted) {
  StageABatch();
  worker_->Cancel(1, tasks_[1]);
  worker_->Cancel(1, tasks_[2]);
  fake_->Finish();
  EXPECT_THAT(tasks_[0].Await(), IsOk());
  TestTask& next = Offer(30);
  fake_->AwaitLaunches(2);
  EXPECT_THAT(fake_->launch_log()[1].tags, ElementsAre(30));
  fake_->FinishAll();
  EXPECT_THAT(next.Await(), IsOk());
}

TEST_F(WorkerBatchesTest, AStagedRequestExpiresWhenItsTimeHasCome) {
  Start(TestConfig({1, 4}));
  Offer(0);
  fake_->AwaitLaunches(1);
  TestTask& timed = tasks_.emplace_back(10, 2);
  timed.Timeout(absl::Milliseconds(5), clock_.Now());
  ASSERT_THAT(worker_->Offer(1, timed), IsOk());
  Offer(20, 2);
  AwaitSlots(2);
  clock_.AwaitDeadline(clock_.Now() + absl::Milliseconds(5));
  clock_.Advance(absl::Milliseconds(5));
  EXPECT_THAT(timed.Await(), StatusIs(absl::StatusCode::kDeadlineExceeded));
  fake_->FinishAll();
  EXPECT_THAT(tasks_[2].Await(), IsOk());
}

TEST_F(WorkerBatchesTest, StagedRequestsCountInTheQueuesBound) {
  ModelConfig config = TestConfig({1, 4});
  config.batch.max_queue_requests = 2;
  Start(std::move(config));
  Offer(0);
  fake_->AwaitLaunches(1);
  Offer(10, 2);
  Offer(20, 2);
  AwaitSlots(2);
  TestTask refused(30);
  EXPECT_THAT(worker_->Offer(1, refused),
              StatusIs(absl::StatusCode::kResourceExhausted));
  fake_->FinishAll();
  EXPECT_THAT(tasks_[2].Await(), IsOk());
}

TEST_F(WorkerBatchesTest, OnePoisonedRequestDoesNotFailItsBatchMates) {
  ModelConfig config = TestConfig({1, 2});
  config.batch.max_queue_delay = absl::Seconds(10);
  Start(std::move(config), FakeRun::kInstant);
  TestTask& bad = tasks_.emplace_back(1);
  bad.inputs[0].pieces[0] = bad.inputs[0].pieces[0].first(3);
  ASSERT_THAT(worker_->Offer(1, bad), IsOk());
  TestTask& good = Offer(2);
  EXPECT_THAT(bad.Await(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("model 'm'"), HasSubstr("input 'x'"))));
  EXPECT_THAT(good.Await(), IsOk());
  EXPECT_THAT(good.rows_answered(), ElementsAre(2));
}

TEST_F(WorkerBatchesTest, AFailedRunFailsItsRequestsAndNoOthers) {
  Start(TestConfig({1}));
  TestTask& failed = Offer(1);
  fake_->Finish(absl::InternalError("kernel fault"));
  EXPECT_THAT(failed.Await(), StatusIs(absl::StatusCode::kInternal,
                                       AllOf(HasSubstr("model 'm' version 1"),
                                             HasSubstr("kernel fault"))));
  TestTask& next = Offer(2);
  fake_->Finish();
  EXPECT_THAT(next.Await(), IsOk());
}

TEST_F(WorkerBatchesTest, AFailedSubmitIsAnsweredAndFreesItsSlot) {
  Start(TestConfig({1}), FakeRun::kInstant);
  fake_->FailSubmit(absl::UnavailableError("device lost"));
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(Offer(i).Await(), StatusIs(absl::StatusCode::kUnavailable,
                                           HasSubstr("device lost")));
  }
  fake_->FailSubmit(absl::OkStatus());
  EXPECT_THAT(Offer(9).Await(), IsOk());
}

TEST_F(WorkerBatchesTest, StagesAreStampedInOrder) {
  Start(TestConfig({1}), FakeRun::kInstant);
  TestTask& task = Offer(1);
  ASSERT_THAT(task.Await(), IsOk());
  const StageTimes times = task.times();
  EXPECT_LE(times.enqueued, times.picked);
  EXPECT_LE(times.picked, times.gathered);
  EXPECT_LE(times.gathered, times.computed);
  EXPECT_NE(times.enqueued, absl::InfinitePast());
}

TEST_F(WorkerBatchesTest, CountsEachBatchOnce) {
  Start(TestConfig({1, 4}), FakeRun::kInstant);
  ASSERT_THAT(Offer(1, 3).Await(), IsOk());
  tasks_[0].DropOutput();
  ASSERT_TRUE(worker_->Stop(absl::InfiniteFuture()));
  EXPECT_EQ(Value("reprise_batches_total"), 1);
  EXPECT_EQ(Value("reprise_batches_total", "size", "4"), 1);
  EXPECT_EQ(Value("reprise_batch_rows"), 1);
  EXPECT_EQ(Value("reprise_padding_rows_total"), 1);
  EXPECT_EQ(Value("reprise_queue_duration_seconds"), 1);
  EXPECT_EQ(Value("reprise_cpu_busy_seconds_total", "phase", "graph"), 1);
  EXPECT_EQ(Value("reprise_batch_dispatch_total", "reason", "free_slot"), 1);
  EXPECT_EQ(Value("reprise_queue_requests"), 0);
  EXPECT_EQ(Value("reprise_queue_bytes"), 0);
  const ModelStatistics::Snapshot statistics =
      model_->version().statistics().snapshot();
  EXPECT_EQ(statistics.execution_count, 1);
  EXPECT_EQ(statistics.batches.at(3).compute_infer.total, absl::Seconds(1));
}

TEST_F(WorkerBatchesTest, WarmUpIsNoTraffic) {
  Start(TestConfig({1, 4}), FakeRun::kInstant);
  TestTask& task = tasks_.emplace_back(1, 3);
  task.warmup = true;
  ASSERT_THAT(worker_->Offer(1, task), IsOk());
  ASSERT_THAT(task.Await(), IsOk());
  task.DropOutput();
  ASSERT_TRUE(worker_->Stop(absl::InfiniteFuture()));
  EXPECT_EQ(Value("reprise_batches_total"), 0);
  EXPECT_EQ(Value("reprise_batch_rows"), 0);
  EXPECT_EQ(Value("reprise_queue_duration_seconds"), 0);
  EXPECT_EQ(Value("reprise_batch_dispatch_total"), 0);
  EXPECT_EQ(model_->version().statistics().snapshot().execution_count, 0);
}

// Both lanes run from 0 to 1 s, and one of them on to 2 s.
TEST_F(WorkerBatchesTest, WhatLanesRunAtOneTimeIsBusyOnce) {
  ModelConfig config = TestConfig({1});
  config.instances = 2;
  Start(std::move(config), FakeRun::kTimed);
  Offer(1);
  Offer(2);
  fake_->AwaitLaunches(2);
  clock_.Advance(absl::Seconds(1));
  ASSERT_THAT(tasks_[0].Await(), IsOk());
  ASSERT_THAT(tasks_[1].Await(), IsOk());
  TestTask& last = Offer(3);
  fake_->AwaitLaunches(3);
  clock_.Advance(absl::Seconds(1));
  ASSERT_THAT(last.Await(), IsOk());
  for (TestTask& task : tasks_) task.DropOutput();
  ASSERT_TRUE(worker_->Stop(absl::InfiniteFuture()));
  EXPECT_EQ(Value("reprise_cpu_busy_seconds_total", "phase", "graph"), 2);
  EXPECT_EQ(Value("reprise_cpu_time_seconds"), 3);
}

TEST_F(WorkerBatchesTest, AGpuCountsItsRunsGraphsAndSteps) {
  WorkerOptions worker;
  worker.gpu_index = 3;
  Serve(std::make_unique<TestModel>(1, TestConfig({1, 4})),
        {.run = FakeRun::kInstant, .gpu_index = 3, .load_steps = true}, {{}},
        worker);
  ASSERT_THAT(Offer(1, 3).Await(), IsOk());
  ASSERT_THAT(fake_->load_steps().Run(LoadStep::kUpload,
                                      [this] {
                                        clock_.Advance(absl::Milliseconds(4));
                                        return absl::OkStatus();
                                      }),
              IsOk());
  tasks_[0].DropOutput();
  ASSERT_TRUE(worker_->Stop(absl::InfiniteFuture()));
  EXPECT_EQ(Value("reprise_graph_runs_total", "kind", "batch"), 1);
  EXPECT_EQ(Value("reprise_graph_runs_total"), 1);
  EXPECT_EQ(Value("reprise_graphs_captured", "device", "3"), 2);
  EXPECT_EQ(Value("reprise_load_step_seconds", "kind", "upload"), 1);
  EXPECT_NEAR(Value("reprise_load_step_longest_seconds", "kind", "upload"),
              0.004, 1e-9);
  EXPECT_EQ(Value("reprise_gpu_time_seconds"), 1);
  EXPECT_EQ(Value("reprise_gpu_errors_total"), 0);
}

}  // namespace
}  // namespace reprise
