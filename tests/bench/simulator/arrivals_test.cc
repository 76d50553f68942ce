#include "tests/bench/simulator/arrivals.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace reprise::bench {
namespace {

constexpr int kCount = 50'000;
constexpr double kRate = 1000;

class ArrivalsTest : public ::testing::TestWithParam<Process> {};

TEST_P(ArrivalsTest, AscendAtTheRateAskedFor) {
  const std::vector<absl::Duration> times =
      Arrivals(GetParam(), kRate, kCount, 5);
  ASSERT_EQ(times.size(), kCount);
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  const double rate = kCount / absl::ToDoubleSeconds(times.back());
  EXPECT_NEAR(rate, kRate, 0.1 * kRate);
}

INSTANTIATE_TEST_SUITE_P(All, ArrivalsTest,
                         ::testing::Values(Process::kPoisson,
                                           Process::kGammaCv2,
                                           Process::kGammaCv4, Process::kMmpp));

double Cv(Process process) {
  const std::vector<absl::Duration> times = Arrivals(process, kRate, kCount, 5);
  double sum = 0;
  double squares = 0;
  for (size_t i = 1; i < times.size(); ++i) {
    const double gap = absl::ToDoubleSeconds(times[i] - times[i - 1]);
    sum += gap;
    squares += gap * gap;
  }
  const double mean = sum / (kCount - 1);
  return std::sqrt(squares / (kCount - 1) - mean * mean) / mean;
}

TEST(ArrivalGapsTest, VaryAsMuchAsTheyShould) {
  EXPECT_NEAR(Cv(Process::kPoisson), 1, 0.05);
  EXPECT_NEAR(Cv(Process::kGammaCv2), 2, 0.15);
  EXPECT_NEAR(Cv(Process::kGammaCv4), 4, 0.4);
}

}  // namespace
}  // namespace reprise::bench
