#include "runtime/batch/rate_estimator.h"

#include "gtest/gtest.h"

namespace reprise {
namespace {

constexpr absl::Time kNow = absl::UnixEpoch();

TEST(RateEstimatorTest, SeesARateAndForgetsIt) {
  RateEstimator rate;
  absl::Time now = kNow;
  for (int i = 0; i < 200; ++i) {
    rate.Add(2, now);
    now += absl::Milliseconds(1);
  }
  EXPECT_NEAR(rate.PerSecond(now), 2000, 50);
  EXPECT_EQ(rate.PerSecond(now + absl::Seconds(1)), 0);
}

TEST(RateEstimatorTest, IsZeroBeforeAnyRow) {
  EXPECT_EQ(RateEstimator().PerSecond(kNow), 0);
}

TEST(RateEstimatorTest, TheWindowBeforeCountsByWhatIsLeftOfIt) {
  RateEstimator rate;
  rate.Add(10, kNow);
  EXPECT_DOUBLE_EQ(rate.PerSecond(kNow), 200);
  EXPECT_DOUBLE_EQ(rate.PerSecond(kNow + RateEstimator::kWindow), 200);
  EXPECT_DOUBLE_EQ(rate.PerSecond(kNow + 1.5 * RateEstimator::kWindow), 100);
  EXPECT_DOUBLE_EQ(rate.PerSecond(kNow + 2 * RateEstimator::kWindow), 0);
}

}  // namespace
}  // namespace reprise
