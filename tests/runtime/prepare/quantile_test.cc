#include "runtime/prepare/quantile.h"

#include <vector>

#include "gtest/gtest.h"

namespace reprise {
namespace {

TEST(QuantileTest, TakesTheNearestRank) {
  std::vector<absl::Duration> times;
  for (int i = 50; i >= 1; --i) times.push_back(absl::Microseconds(i));
  EXPECT_EQ(QuantileOf(times, 0.5), absl::Microseconds(25));
  EXPECT_EQ(QuantileOf(times, 0.999), absl::Microseconds(50));
  EXPECT_EQ(QuantileOf({absl::Microseconds(7)}, 0.5), absl::Microseconds(7));
}

TEST(QuantileTest, FollowsAChangeOfSpeed) {
  Rung rung{.rows = 1,
            .p50 = absl::Microseconds(100),
            .p999 = absl::Microseconds(120)};
  for (int i = 0; i < 500; ++i) UpdateRung(rung, absl::Microseconds(200));
  EXPECT_NEAR(absl::ToDoubleMicroseconds(rung.p50), 200, 5);
  EXPECT_GE(rung.p999, rung.p50);
}

TEST(QuantileTest, TheTailStandsAboveNearlyAllRuns) {
  Rung rung{.rows = 1,
            .p50 = absl::Microseconds(100),
            .p999 = absl::Microseconds(100)};
  for (int i = 0; i < 20000; ++i) {
    UpdateRung(rung, absl::Microseconds(i % 100 == 0 ? 1000 : 100));
  }
  EXPECT_NEAR(absl::ToDoubleMicroseconds(rung.p50), 100, 5);
  EXPECT_GT(rung.p999, absl::Microseconds(900));
}

TEST(QuantileTest, TheFirstRunSetsBoth) {
  Rung rung;
  UpdateRung(rung, absl::Microseconds(5));
  EXPECT_EQ(rung.p50, absl::Microseconds(5));
  EXPECT_EQ(rung.p999, absl::Microseconds(5));
}

}  // namespace
}  // namespace reprise
