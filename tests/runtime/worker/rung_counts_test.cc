#include "runtime/worker/rung_counts.h"

#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "prometheus/metric_family.h"
#include "prometheus/registry.h"

namespace reprise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class RungCountsTest : public ::testing::Test {
 protected:
  // "variant size" -> what was counted.
  std::map<std::string, double> Counted() const {
    std::map<std::string, double> counted;
    for (const prometheus::MetricFamily& family : metrics_.Collect()) {
      if (family.name != "batches") continue;
      for (const prometheus::ClientMetric& metric : family.metric) {
        std::map<std::string, std::string> labels;
        for (const auto& label : metric.label) labels[label.name] = label.value;
        counted[labels["variant"] + " " + labels["size"]] =
            metric.counter.value;
      }
    }
    return counted;
  }
  void Count(RungCounts& counts, const std::string& variant, int size) {
    const RungCounts::Rung rung = counts.Of(variant, size, /*max_variants=*/2);
    rung.batches->Increment();
    rung.time->Observe(0.5);
  }

  prometheus::Registry metrics_;
  SeriesPool pool_;
  prometheus::Family<prometheus::Counter>& batches_ =
      prometheus::BuildCounter().Name("batches").Register(metrics_);
  prometheus::Family<prometheus::Histogram>& time_ =
      prometheus::BuildHistogram().Name("time").Register(metrics_);
};

TEST_F(RungCountsTest, ARungHasOneSeriesForGood) {
  {
    RungCounts counts(pool_, batches_, time_, {{"model", "m"}}, {1});
    Count(counts, "n=3", 1);
    Count(counts, "n=3", 4);
    Count(counts, "n=3", 1);
    EXPECT_THAT(Counted(), ElementsAre(Pair("n=3 1", 2), Pair("n=3 4", 1)));
  }
  EXPECT_THAT(Counted(), IsEmpty());
}

TEST_F(RungCountsTest, VariantsBeyondTheirMaximumShareTheirSeries) {
  RungCounts counts(pool_, batches_, time_, {{"model", "m"}}, {1});
  for (const char* variant : {"n=3", "n=4", "n=5", "n=6", "n=4"}) {
    Count(counts, variant, 8);
  }
  EXPECT_THAT(Counted(), ElementsAre(Pair("n=3 8", 1), Pair("n=4 8", 2),
                                     Pair("other 8", 2)));
}

}  // namespace
}  // namespace reprise
