#include "runtime/worker/busy_time.h"

#include <vector>

#include "gtest/gtest.h"

namespace reprise {
namespace {

absl::Duration Ms(int64_t n) { return absl::Milliseconds(n); }

TEST(BusyTimeTest, RunsOneAfterTheOtherCountWhole) {
  BusyTime busy;
  EXPECT_EQ(busy.Add(Ms(10), Ms(13)), Ms(3));
  EXPECT_EQ(busy.Add(Ms(13), Ms(15)), Ms(2));
  EXPECT_EQ(busy.Add(Ms(20), Ms(21)), Ms(1));
}

TEST(BusyTimeTest, WhatOverlapsCountsOnce) {
  BusyTime busy;
  EXPECT_EQ(busy.Add(Ms(10), Ms(20)), Ms(10));
  EXPECT_EQ(busy.Add(Ms(15), Ms(25)), Ms(5));
  EXPECT_EQ(busy.Add(Ms(12), Ms(18)), Ms(0));
}

TEST(BusyTimeTest, ALongRunThatIsSeenLastFillsTheGaps) {
  BusyTime busy;
  EXPECT_EQ(busy.Add(Ms(12), Ms(13)), Ms(1));
  EXPECT_EQ(busy.Add(Ms(16), Ms(18)), Ms(2));
  EXPECT_EQ(busy.Add(Ms(19), Ms(25)), Ms(6));
  EXPECT_EQ(busy.Add(Ms(10), Ms(20)), Ms(6));
  EXPECT_EQ(busy.Add(Ms(9), Ms(26)), Ms(2));
}

TEST(BusyTimeTest, ARunBeforeAllOthersCounts) {
  BusyTime busy;
  EXPECT_EQ(busy.Add(Ms(10), Ms(20)), Ms(10));
  EXPECT_EQ(busy.Add(Ms(2), Ms(5)), Ms(3));
  EXPECT_EQ(busy.Add(Ms(4), Ms(12)), Ms(5));
}

TEST(BusyTimeTest, AnEmptyRunCountsNothing) {
  BusyTime busy;
  EXPECT_EQ(busy.Add(Ms(10), Ms(10)), Ms(0));
  EXPECT_EQ(busy.Add(Ms(10), Ms(9)), Ms(0));
  EXPECT_EQ(busy.Add(Ms(9), Ms(11)), Ms(2));
}

// Many short runs with gaps on one lane, one run beside them all on the other:
// gaps that are forgotten are taken as counted.
TEST(BusyTimeTest, ItNeverCountsMoreThanTheTimeThatPassed) {
  constexpr int kRuns = 200;
  BusyTime busy;
  absl::Duration sum;
  for (int i = 0; i < kRuns; ++i) sum += busy.Add(Ms(3 * i), Ms(3 * i + 1));
  EXPECT_EQ(sum, Ms(kRuns));
  const absl::Duration rest = busy.Add(Ms(0), Ms(3 * kRuns));
  // The last gaps are known, and the one behind the last run.
  EXPECT_EQ(rest, Ms(2 * static_cast<int64_t>(BusyTime::kRemembered)));
  EXPECT_LE(sum + rest, Ms(3 * kRuns));
}

}  // namespace
}  // namespace reprise
