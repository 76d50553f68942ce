#include "tests/bench/simulator/baselines.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace reprise::bench {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;

constexpr absl::Time kNow = absl::UnixEpoch();

// `count` requests due in `slack`; rungs 1 4 16 of 1, 2 and 4 ms.
Decision Ask(const std::string& policy, int count, absl::Duration slack) {
  const Ladder ladder = {
      {.rows = 1, .p50 = absl::Milliseconds(1), .p999 = absl::Milliseconds(1)},
      {.rows = 4, .p50 = absl::Milliseconds(2), .p999 = absl::Milliseconds(2)},
      {.rows = 16,
       .p50 = absl::Milliseconds(4),
       .p999 = absl::Milliseconds(4)}};
  std::vector<Waiting> waiting(static_cast<size_t>(count));
  for (Waiting& one : waiting) {
    one.deadline = kNow + slack;
    one.enqueued = kNow;
  }
  QueueView queue;
  queue.waiting = waiting;
  queue.rows = count;
  queue.oldest = kNow;
  queue.ladder = ladder;
  queue.slo = absl::Milliseconds(10);
  const LaneView lane;
  const auto found = PolicyByName(policy);
  EXPECT_THAT(found, IsOk());
  return (*found)(
      {.queues = std::span(&queue, 1), .lanes = std::span(&lane, 1)}, kNow);
}

TEST(BaselinesTest, FifoTakesAllAndPads) {
  const Decision decision = Ask("fifo", 5, absl::Seconds(1));
  EXPECT_EQ(decision.rows, 5);
  EXPECT_EQ(decision.rung, 2);
}

TEST(BaselinesTest, DelayWaits) {
  const Decision decision = Ask("delay:2", 5, absl::Seconds(1));
  EXPECT_EQ(decision.queue, -1);
  EXPECT_EQ(decision.ask_again, kNow + absl::Milliseconds(2));
}

TEST(BaselinesTest, TfCostBatchesDownWhereThatCostsLess) {
  EXPECT_EQ(Ask("tfcost", 5, absl::Seconds(1)).rows, 4);
  EXPECT_EQ(Ask("tfcost", 12, absl::Seconds(1)).rows, 12);
}

TEST(BaselinesTest, EarliestTakesWhatTheOldestAllows) {
  EXPECT_EQ(Ask("earliest", 16, absl::Milliseconds(3)).rows, 4);
  EXPECT_EQ(Ask("earliest", 16, absl::Milliseconds(0.5)).drops.size(), 16);
}

TEST(BaselinesTest, NexusDropsHeadsThatTheWindowCannotServe) {
  EXPECT_EQ(Ask("nexus", 16, absl::Milliseconds(9)).rows, 16);
  const Decision decision = Ask("nexus", 16, absl::Milliseconds(3));
  EXPECT_EQ(decision.rows, 4);
  EXPECT_EQ(decision.drops.size(), 12);
}

TEST(BaselinesTest, RefusesAnUnknownName) {
  EXPECT_THAT(PolicyByName("best"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(PolicyByName("delay:soon"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace reprise::bench
