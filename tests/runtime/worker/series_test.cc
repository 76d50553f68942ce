#include "runtime/worker/series.h"

#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "prometheus/counter.h"
#include "prometheus/histogram.h"
#include "prometheus/registry.h"

namespace reprise {
namespace {

using ::testing::SizeIs;

class SeriesTest : public ::testing::Test {
 protected:
  using Counter = Series<prometheus::Counter>;

  Counter Get(const char* model) {
    return pool_.Get(family_, {{"model", model}});
  }
  // The series on the page; a family without any is not shown.
  std::vector<prometheus::ClientMetric> Shown() const {
    const auto families = registry_.Collect();
    return families.empty() ? std::vector<prometheus::ClientMetric>()
                            : families[0].metric;
  }

  prometheus::Registry registry_;
  prometheus::Family<prometheus::Counter>& family_ =
      prometheus::BuildCounter().Name("rows_total").Register(registry_);
  SeriesPool pool_;
};

TEST_F(SeriesTest, GoesWithItsLastShare) {
  Counter first = Get("a");
  {
    const Counter second = Get("a");
    first->Increment();
    second->Increment();
    ASSERT_THAT(Shown(), SizeIs(1));
    EXPECT_EQ(Shown()[0].counter.value, 2);
  }
  EXPECT_THAT(Shown(), SizeIs(1));
  first = Counter();
  EXPECT_THAT(Shown(), SizeIs(0));
}

TEST_F(SeriesTest, OtherLabelsAreAnotherSeries) {
  const Counter a = Get("a");
  {
    const Counter b = Get("b");
    EXPECT_THAT(Shown(), SizeIs(2));
  }
  EXPECT_THAT(Shown(), SizeIs(1));
}

TEST_F(SeriesTest, AMovedShareIsOneShare) {
  Counter a = Get("a");
  Counter b = std::move(a);
  b->Increment();
  EXPECT_THAT(Shown(), SizeIs(1));
  { const Counter c = std::move(b); }
  EXPECT_THAT(Shown(), SizeIs(0));
}

TEST_F(SeriesTest, StartsAnewAfterItsLastShare) {
  Get("a")->Increment();
  const Counter again = Get("a");
  EXPECT_EQ(again->Value(), 0);
}

TEST_F(SeriesTest, PassesOnWhatTheMetricIsMadeOf) {
  auto& family =
      prometheus::BuildHistogram().Name("seconds").Register(registry_);
  const auto share =
      pool_.Get(family, {}, prometheus::Histogram::BucketBoundaries{0.1, 1});
  share->Observe(0.5);
  EXPECT_THAT(share->Collect().histogram.bucket, SizeIs(3));
}

}  // namespace
}  // namespace reprise
