#include "client/bench/histogram.h"

#include "gtest/gtest.h"

namespace reprise::client {
namespace {

TEST(HistogramTest, IsZeroWhileEmpty) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0);
  EXPECT_EQ(histogram.Percentile(50), 0);
  EXPECT_EQ(histogram.min(), 0);
  EXPECT_EQ(histogram.max(), 0);
  EXPECT_EQ(histogram.mean(), 0);
}

TEST(HistogramTest, SmallValuesAreExact) {
  Histogram histogram;
  for (int i = 1; i <= 100; ++i) histogram.Record(i);
  EXPECT_EQ(histogram.Percentile(50), 50);
  EXPECT_EQ(histogram.Percentile(99), 99);
  EXPECT_EQ(histogram.Percentile(99.9), 100);
  EXPECT_EQ(histogram.Percentile(0), 1);
  EXPECT_EQ(histogram.Percentile(100), 100);
  EXPECT_DOUBLE_EQ(histogram.mean(), 50.5);
}

TEST(HistogramTest, AnyValueIsKnownToOneIn128) {
  for (int64_t value = 1; value < (int64_t{1} << 43); value = value * 3 + 1) {
    Histogram histogram;
    histogram.Record(value);
    histogram.Record(value * 2);  // so that the maximum does not bound it
    const int64_t found = histogram.Percentile(50);
    EXPECT_GE(found, value);
    EXPECT_LE(found - value, value / 128);
  }
}

TEST(HistogramTest, PercentilesNeverLeaveTheExtremes) {
  Histogram histogram;
  histogram.Record(1'000'003);
  EXPECT_EQ(histogram.Percentile(1), 1'000'003);
  EXPECT_EQ(histogram.Percentile(99.9), 1'000'003);
}

TEST(HistogramTest, HoldsTheRareValueInTheTail) {
  Histogram histogram;
  for (int i = 0; i < 999; ++i) histogram.Record(1'000);
  histogram.Record(5'000'000);
  EXPECT_LT(histogram.Percentile(99.9), 1'010);
  EXPECT_EQ(histogram.Percentile(99.95), 5'000'000);
}

TEST(HistogramTest, TakesWhatIsOutOfRangeAsTheNearest) {
  Histogram histogram;
  histogram.Record(-5);
  histogram.Record(INT64_MAX);
  EXPECT_EQ(histogram.min(), 0);
  EXPECT_EQ(histogram.max(), (int64_t{1} << 44) - 1);
  EXPECT_EQ(histogram.count(), 2);
}

TEST(HistogramTest, IsEmptyOnceCleared) {
  Histogram histogram;
  histogram.Record(7);
  histogram.Clear();
  EXPECT_EQ(histogram.count(), 0);
  EXPECT_EQ(histogram.min(), 0);
  EXPECT_EQ(histogram.max(), 0);
  EXPECT_EQ(histogram.Percentile(50), 0);
}

TEST(HistogramTest, CountsBetween) {
  Histogram histogram;
  for (int i = 1; i <= 10; ++i) histogram.Record(i);
  EXPECT_EQ(histogram.CountBetween(0, 10), 10);
  EXPECT_EQ(histogram.CountBetween(3, 7), 4);
  EXPECT_EQ(histogram.CountBetween(10, INT64_MAX), 0);
}

}  // namespace
}  // namespace reprise::client
