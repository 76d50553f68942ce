#include "runtime/batch/policy.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr absl::Time kNow = absl::UnixEpoch();

Rung RungOf(int rows, absl::Duration time) {
  return {.rows = rows, .p50 = time, .p999 = time};
}

// 0.55 ms + 0.115 ms a row.
Ladder Affine(const std::vector<int>& sizes) {
  Ladder ladder;
  for (const int rows : sizes) {
    ladder.push_back(RungOf(rows, absl::Microseconds(550 + 115 * rows)));
  }
  return ladder;
}

// A device with queues to fill; requests wait since `kNow`.
class PolicyTest : public ::testing::Test {
 protected:
  struct Queue {
    std::vector<Waiting> waiting;
    Ladder ladder;
    std::vector<int> preferred;
    QueueView view;
  };

  // The queue stays where it is.
  Queue& AddQueue(Ladder ladder,
                  std::optional<absl::Duration> slo = std::nullopt) {
    Queue& queue = queues_.emplace_back();
    queue.ladder = std::move(ladder);
    queue.view.slo = slo;
    return queue;
  }

  static void AddTask(Queue& queue, int rows = 1,
                      absl::Time deadline = absl::InfiniteFuture(),
                      absl::Duration waited = absl::ZeroDuration(),
                      uint32_t level = 0) {
    Waiting waiting;
    waiting.rows = rows;
    waiting.deadline = deadline;
    waiting.enqueued = kNow - waited;
    waiting.level = level;
    queue.waiting.push_back(waiting);
    queue.view.rows += rows;
    queue.view.oldest = std::min(queue.view.oldest, waiting.enqueued);
  }

  static void AddTasks(Queue& queue, int count,
                       absl::Time deadline = absl::InfiniteFuture()) {
    for (int i = 0; i < count; ++i) AddTask(queue, 1, deadline);
  }

  Decision Run(absl::Time now = kNow) {
    std::vector<QueueView> views;
    for (Queue& queue : queues_) {
      queue.view.waiting = queue.waiting;
      queue.view.ladder = queue.ladder;
      queue.view.preferred = queue.preferred;
      views.push_back(queue.view);
    }
    device_.queues = views;
    device_.lanes = lanes_;
    return Decide(device_, now);
  }

  std::deque<Queue> queues_;
  std::vector<LaneView> lanes_ = {LaneView{}};
  DeviceView device_;
};

TEST_F(PolicyTest, NothingWaitsNothingRuns) {
  AddQueue(Affine({1, 2, 4}));
  const Decision decision = Run();
  EXPECT_EQ(decision.queue, -1);
  EXPECT_EQ(decision.ask_again, absl::InfiniteFuture());
}

TEST_F(PolicyTest, EverythingThatWaitsGoesIntoTheNextBatch) {
  Queue& queue = AddQueue(Affine({1, 2, 4, 8}));
  AddTasks(queue, 4);
  const Decision decision = Run();
  EXPECT_EQ(decision.queue, 0);
  EXPECT_EQ(decision.rows, 4);
  EXPECT_THAT(decision.tasks, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(decision.reason, DispatchReason::kFreeSlot);
}

TEST_F(PolicyTest, EverythingGoesTogetherEvenIfRowsAreAllThatCosts) {
  Ladder linear;
  for (const int rows : {1, 2, 4, 8}) {
    linear.push_back(RungOf(rows, absl::Milliseconds(rows)));
  }
  Queue& queue = AddQueue(linear);
  AddTasks(queue, 4);
  EXPECT_EQ(Run().rows, 4);
}

TEST_F(PolicyTest, AFullBatchSaysSo) {
  Queue& queue = AddQueue(Affine({1, 2, 4}));
  AddTasks(queue, 6);
  const Decision decision = Run();
  EXPECT_EQ(decision.rows, 4);
  EXPECT_EQ(decision.reason, DispatchReason::kFull);
}

TEST_F(PolicyTest, PaddingPaysForItselfOrIsNotDone) {
  // 17 rows: 16 now is cheaper a row than 17 on the rung of 32.
  Queue& queue = AddQueue(Affine({1, 16, 32}));
  AddTasks(queue, 17);
  EXPECT_EQ(Run().rows, 16);
  // 15 rows are worth the rung of 16.
  queue.waiting.resize(15);
  queue.view.rows = 15;
  const Decision decision = Run();
  EXPECT_EQ(decision.rows, 15);
  EXPECT_EQ(decision.rung, 1);
}

TEST_F(PolicyTest, NeverSplitsARequest) {
  Queue& queue = AddQueue(Affine({1, 2, 4, 8}));
  AddTask(queue, 5);
  AddTask(queue, 5);
  AddTask(queue, 3);
  const Decision decision = Run();
  EXPECT_THAT(decision.tasks, ElementsAre(0, 2));  // the second does not fit
  EXPECT_EQ(decision.rows, 8);
}

TEST_F(PolicyTest, WithOrderKeptNobodyIsPassedOver) {
  Queue& queue = AddQueue(Affine({1, 2, 4, 8}));
  queue.view.keep_order = true;
  AddTask(queue, 5);
  AddTask(queue, 5);
  AddTask(queue, 3);
  EXPECT_THAT(Run().tasks, ElementsAre(0));
}

TEST_F(PolicyTest, WithoutBatchingEachRequestRunsByItself) {
  Queue& queue = AddQueue(Affine({1, 2, 4, 8}));
  queue.view.batching = false;
  queue.view.max_delay = absl::Seconds(1);
  AddTask(queue, 3);
  AddTask(queue, 1);
  const Decision decision = Run();
  EXPECT_THAT(decision.tasks, ElementsAre(0));
  EXPECT_EQ(decision.rung, 2);
  EXPECT_EQ(decision.reason, DispatchReason::kSingle);
}

TEST_F(PolicyTest, WaitsForTheDelayAndSaysHowLong) {
  Queue& queue = AddQueue(Affine({1, 2, 4}));
  queue.view.max_delay = absl::Milliseconds(2);
  AddTask(queue, 1, absl::InfiniteFuture(), absl::Milliseconds(0.5));
  AddTask(queue, 1);
  Decision decision = Run();
  EXPECT_EQ(decision.queue, -1);
  EXPECT_EQ(decision.ask_again, kNow + absl::Milliseconds(1.5));
  decision = Run(kNow + absl::Milliseconds(1.5));
  EXPECT_EQ(decision.rows, 2);
  EXPECT_EQ(decision.reason, DispatchReason::kDelay);
}

TEST_F(PolicyTest, WithADelayAFullBatchGoesAtOnce) {
  Queue& queue = AddQueue(Affine({1, 2, 4}));
  queue.view.max_delay = absl::Seconds(10);
  AddTasks(queue, 4);
  EXPECT_EQ(Run().reason, DispatchReason::kFull);
}

TEST_F(PolicyTest, WithADelayABatchThatTheNextDoesNotFitIsFull) {
  Queue& queue = AddQueue(Affine({1, 2, 4}));
  queue.view.max_delay = absl::Seconds(10);
  AddTask(queue, 3);
  AddTask(queue, 2);
  const Decision decision = Run();
  EXPECT_THAT(decision.tasks, ElementsAre(0));
  EXPECT_EQ(decision.reason, DispatchReason::kFull);
}

TEST_F(PolicyTest, APreferredSizeEndsTheDelay) {
  Queue& queue = AddQueue(Affine({1, 2, 4, 8}));
  queue.view.max_delay = absl::Seconds(10);
  queue.preferred = {2, 4};
  AddTasks(queue, 1);
  EXPECT_EQ(Run().queue, -1);
  AddTasks(queue, 2);
  const Decision decision = Run();
  EXPECT_EQ(decision.rows, 2);  // the largest preferred size in reach
  EXPECT_EQ(decision.reason, DispatchReason::kPreferred);
}

TEST_F(PolicyTest, APreferredSizeAtWhichTheHeadIsLateIsNotTaken) {
  // T[4] is 1.03 ms: the head allows no more than two rows.
  Queue& queue = AddQueue(Affine({1, 2, 4, 8}), absl::Milliseconds(10));
  queue.view.max_delay = absl::Seconds(10);
  queue.preferred = {4};
  AddTask(queue, 1, kNow + absl::Milliseconds(0.9));
  for (int i = 0; i < 3; ++i) AddTask(queue, 1, kNow + absl::Milliseconds(9));
  const Decision decision = Run();
  EXPECT_EQ(decision.queue, 0);
  EXPECT_THAT(decision.tasks, ElementsAre(0, 1));
  EXPECT_EQ(decision.reason, DispatchReason::kDeadline);
}

TEST_F(PolicyTest, ARungThatIsSlowerThanALargerOneIsPassedOver) {
  // The head is late on its own rung, and in time on the larger one.
  const Ladder ladder = {RungOf(1, absl::Milliseconds(5)),
                         RungOf(4, absl::Milliseconds(1))};
  Queue& queue = AddQueue(ladder, absl::Milliseconds(10));
  AddTask(queue, 1, kNow + absl::Milliseconds(2));
  Decision decision = Run();
  EXPECT_THAT(decision.drops, IsEmpty());
  EXPECT_EQ(decision.rows, 1);
  EXPECT_EQ(decision.rung, 1);
  queue.view.batching = false;
  decision = Run();
  EXPECT_EQ(decision.rows, 1);
  EXPECT_EQ(decision.rung, 1);
}

TEST_F(PolicyTest, WhileDrainingNobodyWaitsForCompany) {
  Queue& queue = AddQueue(Affine({1, 2, 4}));
  queue.view.max_delay = absl::Seconds(10);
  AddTasks(queue, 1);
  device_.draining = true;
  EXPECT_EQ(Run().rows, 1);
}

TEST_F(PolicyTest, NothingRunsWithoutASlot) {
  AddTasks(AddQueue(Affine({1, 2, 4})), 4);
  device_.slot_free = false;
  EXPECT_EQ(Run().queue, -1);
}

TEST_F(PolicyTest, BehindALongRunItIsDecidedAsLateAsGatheringAllows) {
  Queue& queue = AddQueue(Affine({1, 2, 4}));
  queue.view.lead = absl::Milliseconds(1);
  AddTasks(queue, 2);
  lanes_[0].submitted = 1;
  lanes_[0].free_at = kNow + absl::Milliseconds(5);
  Decision decision = Run();
  EXPECT_EQ(decision.queue, -1);
  EXPECT_EQ(decision.ask_again, kNow + absl::Milliseconds(4));
  EXPECT_EQ(Run(kNow + absl::Milliseconds(4)).rows, 2);
}

TEST_F(PolicyTest, AFullBatchIsGatheredWhileTheOneBeforeRuns) {
  Queue& queue = AddQueue(Affine({1, 2, 4}));
  queue.view.lead = absl::Milliseconds(1);
  AddTasks(queue, 4);
  lanes_[0].submitted = 1;
  lanes_[0].free_at = kNow + absl::Milliseconds(5);
  EXPECT_EQ(Run().rows, 4);
  lanes_[0].staged = true;
  EXPECT_EQ(Run().queue, -1);
}

TEST_F(PolicyTest, TakesTheLaneThatIsFreeFirst) {
  Queue& queue = AddQueue(Affine({1, 2, 4}));
  AddTasks(queue, 1);
  lanes_ = {LaneView{.free_at = kNow + absl::Seconds(1), .submitted = 1},
            LaneView{}};
  queue.view.lanes = 2;
  EXPECT_EQ(Run().lane, 1);
  queue.view.lanes = 1;  // the model has no instance there
  EXPECT_EQ(Run().queue, -1);
}

TEST_F(PolicyTest, WithoutASloNobodyIsGivenUpByPrediction) {
  Queue& queue = AddQueue(Affine({1, 2, 4}));
  AddTask(queue, 1, kNow + absl::Microseconds(1));
  const Decision decision = Run();
  EXPECT_EQ(decision.rows, 1);
  EXPECT_THAT(decision.drops, IsEmpty());
}

TEST_F(PolicyTest, WithASloTheHopelessAreDropped) {
  Queue& queue = AddQueue(Affine({1, 2, 4}), absl::Milliseconds(10));
  AddTask(queue, 1, kNow + absl::Microseconds(600));  // T[1] is 685 us
  AddTask(queue, 4, kNow + absl::Microseconds(900));  // T[4] is 1030 us
  AddTask(queue, 1, kNow + absl::Milliseconds(8));
  const Decision decision = Run();
  EXPECT_THAT(decision.tasks, ElementsAre(2));
  ASSERT_EQ(decision.drops.size(), 2);
  EXPECT_EQ(decision.drops[0].task, 0);
  EXPECT_EQ(decision.drops[1].task, 1);
}

TEST_F(PolicyTest, WhileThereIsCapacityADeadlineCapsTheBatch) {
  // T[8] is 1.49 ms with overhead, T[4] 1.03 ms: the head allows only four.
  Queue& queue = AddQueue(Affine({1, 2, 4, 8}), absl::Milliseconds(10));
  AddTask(queue, 1, kNow + absl::Milliseconds(1.2));
  for (int i = 0; i < 5; ++i) AddTask(queue, 1, kNow + absl::Milliseconds(9));
  const Decision decision = Run();
  EXPECT_EQ(decision.rows, 4);
  EXPECT_THAT(decision.drops, IsEmpty());
}

TEST_F(PolicyTest, UnderOverloadTheLateMakeRoomForTheMany) {
  Queue& queue = AddQueue(Affine({1, 2, 4, 8}), absl::Milliseconds(3));
  queue.view.arrival_rate = 1e6;
  AddTask(queue, 1, kNow + absl::Milliseconds(1.2));
  for (int i = 0; i < 8; ++i) AddTask(queue, 1, kNow + absl::Milliseconds(3));
  const Decision decision = Run();
  EXPECT_EQ(decision.rows, 8);
  ASSERT_EQ(decision.drops.size(), 1);
  EXPECT_EQ(decision.drops[0].task, 0);
}

TEST_F(PolicyTest, TheCapacityRungIsTheLargestOfWhichTwoFit) {
  const Ladder ladder = Affine({1, 2, 4, 8, 16, 32, 64});
  EXPECT_EQ(CapacityAt(ladder, absl::Milliseconds(10)).rung, 5);
  EXPECT_EQ(CapacityAt(ladder, std::nullopt).rung, 6);
  EXPECT_EQ(CapacityAt(ladder, absl::Microseconds(1)).rung, 0);
  EXPECT_NEAR(CapacityAt(ladder, std::nullopt).rows_per_second, 64 / 7.93e-3,
              1);
}

TEST_F(PolicyTest, LowPrioritiesFillARungButNeverRaiseIt) {
  Queue& queue = AddQueue(Affine({1, 2, 4, 8}));
  for (int i = 0; i < 3; ++i) {
    AddTask(queue, 1, absl::InfiniteFuture(), absl::ZeroDuration(), 1);
  }
  for (int i = 0; i < 8; ++i) {
    AddTask(queue, 1, absl::InfiniteFuture(), absl::ZeroDuration(), 2);
  }
  const Decision decision = Run();
  EXPECT_EQ(decision.rung, 2);
  EXPECT_THAT(decision.tasks, ElementsAre(0, 1, 2, 3));
}

TEST_F(PolicyTest, BetweenModelsTheFullerBatchGoesFirst) {
  AddTasks(AddQueue(Affine({1, 2, 4, 8})), 1);
  AddTasks(AddQueue(Affine({1, 2, 4, 8})), 8);
  EXPECT_EQ(Run().queue, 1);
}

TEST_F(PolicyTest, NoModelStarvesBehindAFullerOne) {
  Queue& starved = AddQueue(Affine({1, 2, 4, 8}));
  AddTask(starved, 1, absl::InfiniteFuture(), absl::Milliseconds(5));
  AddTasks(AddQueue(Affine({1, 2, 4, 8})), 8);
  EXPECT_EQ(Run().queue, 0);
  starved.view.last_run = kNow - absl::Microseconds(1);  // it had its turn
  EXPECT_EQ(Run().queue, 1);
}

TEST_F(PolicyTest, AHeadThatWouldBeLostByWaitingGoesFirst) {
  Queue& urgent = AddQueue(Affine({1, 2, 4, 8}), absl::Milliseconds(10));
  AddTask(urgent, 1, kNow + absl::Milliseconds(1));
  Queue& full = AddQueue(Affine({1, 2, 4, 8}), absl::Milliseconds(10));
  AddTasks(full, 8, kNow + absl::Milliseconds(9));
  EXPECT_EQ(Run().queue, 0);
  urgent.waiting[0].deadline = kNow + absl::Milliseconds(9);
  EXPECT_EQ(Run().queue, 1);
}

TEST_F(PolicyTest, ALaneWithTwoRunsTakesNoMore) {
  AddTasks(AddQueue(Affine({1, 2})), 2);
  lanes_[0].submitted = 2;
  EXPECT_EQ(Run().queue, -1);
}

TEST_F(PolicyTest, EveryReasonHasAName) {
  for (int i = 0; i < kDispatchReasons; ++i) {
    EXPECT_NE(DispatchReasonName(static_cast<DispatchReason>(i)), "unknown");
  }
}

}  // namespace
}  // namespace reprise
