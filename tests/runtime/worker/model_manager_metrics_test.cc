#include "runtime/worker/model_manager_metrics.h"

#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// "name model/version" -> value
std::map<std::string, double> Collect(prometheus::Registry& registry) {
  std::map<std::string, double> values;
  for (const auto& family : registry.Collect()) {
    for (const auto& metric : family.metric) {
      EXPECT_EQ(metric.label[0].name, "model");
      EXPECT_EQ(metric.label[1].name, "version");
      values[family.name + " " + metric.label[0].value + "/" +
             metric.label[1].value] = metric.gauge.value;
    }
  }
  return values;
}

TEST(ModelManagerMetricsTest, HasSeriesForEachVersion) {
  prometheus::Registry registry;
  ModelManagerMetrics metrics(registry);
  metrics.SetReady("a", 1, true);
  metrics.SetLoadTime("a", 1, absl::Milliseconds(250));
  metrics.SetReady("b", 2, false);
  EXPECT_THAT(Collect(registry),
              ElementsAre(Pair("reprise_model_load_seconds a/1", 0.25),
                          Pair("reprise_model_ready a/1", 1),
                          Pair("reprise_model_ready b/2", 0)));
  metrics.SetReady("a", 1, false);
  EXPECT_EQ(Collect(registry).at("reprise_model_ready a/1"), 0);
}

TEST(ModelManagerMetricsTest, AModelWithoutAKnownVersionHasOneWithoutAName) {
  prometheus::Registry registry;
  ModelManagerMetrics metrics(registry);
  metrics.SetReady("a", 0, false);
  EXPECT_THAT(Collect(registry),
              ElementsAre(Pair("reprise_model_ready a/", 0)));
  metrics.SetReady("a", 1, true);
  metrics.RemoveVersion("a", 0);
  metrics.RemoveVersion("nobody", 0);
  EXPECT_THAT(Collect(registry),
              ElementsAre(Pair("reprise_model_ready a/1", 1)));
}

TEST(ModelManagerMetricsTest, SeriesGoWithTheirModel) {
  prometheus::Registry registry;
  {
    ModelManagerMetrics metrics(registry);
    metrics.SetReady("a", 1, true);
    metrics.SetReady("a", 2, true);
    metrics.SetReady("b", 1, true);
    metrics.SetLoadTime("a", 2, absl::Seconds(1));
    metrics.Remove("a");
    EXPECT_THAT(Collect(registry),
                ElementsAre(Pair("reprise_model_ready b/1", 1)));
  }
  EXPECT_THAT(Collect(registry), IsEmpty());
}

}  // namespace
}  // namespace reprise
