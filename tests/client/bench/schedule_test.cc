#include "client/bench/schedule.h"

#include <cmath>

#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::testing::IsOkAndHolds;
using reprise::testing::StatusIs;
using std::chrono::microseconds;
using std::chrono::nanoseconds;
using ::testing::HasSubstr;

TEST(ScheduleTest, ConstantGapsBeginAtZeroAndDoNotDrift) {
  Schedule schedule(3, Distribution::kConstant, 1);
  EXPECT_EQ(schedule.due(), nanoseconds(0));
  for (int i = 0; i < 3'000; ++i) schedule.Pop();
  EXPECT_NEAR(static_cast<double>(schedule.due().count()), 1e12, 100);
}

TEST(ScheduleTest, PoissonGapsHaveTheMeanAndSpreadOfAnExponential) {
  constexpr int kCalls = 100'000;
  Schedule schedule(1e4, Distribution::kPoisson, 7);
  double sum = 0;
  double squares = 0;
  nanoseconds last{0};
  for (int i = 0; i < kCalls; ++i) {
    ASSERT_GE(schedule.due(), last);
    const double gap = static_cast<double>((schedule.due() - last).count());
    sum += gap;
    squares += gap * gap;
    last = schedule.due();
    schedule.Pop();
  }
  const double mean = sum / kCalls;
  EXPECT_NEAR(mean, 1e5, 2e3);
  EXPECT_NEAR(std::sqrt(squares / kCalls - mean * mean), 1e5, 3e3);
}

TEST(ScheduleTest, TheSeedDecidesTheInstants) {
  Schedule a(100, Distribution::kPoisson, 1);
  Schedule b(100, Distribution::kPoisson, 1);
  const Schedule c(100, Distribution::kPoisson, 2);
  EXPECT_EQ(a.due(), b.due());
  EXPECT_NE(a.due(), c.due());
}

TEST(ScheduleTest, ParsesDistributions) {
  EXPECT_THAT(ParseDistribution("poisson"),
              IsOkAndHolds(Distribution::kPoisson));
  EXPECT_THAT(ParseDistribution("constant"),
              IsOkAndHolds(Distribution::kConstant));
  EXPECT_THAT(
      ParseDistribution("gauss"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"gauss\"")));
}

}  // namespace
}  // namespace reprise::client
