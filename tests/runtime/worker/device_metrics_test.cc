#include "runtime/worker/device_metrics.h"

#include <cstdint>
#include <map>
#include <string>

#include "gtest/gtest.h"
#include "prometheus/metric_family.h"

namespace reprise {
namespace {

class DeviceMetricsTest : public ::testing::Test {
 protected:
  // The series of `name` on device `device`, by their label `kind`.
  std::map<std::string, prometheus::ClientMetric> ByKind(
      const std::string& name, const std::string& device = "0") const {
    std::map<std::string, prometheus::ClientMetric> found;
    for (const prometheus::MetricFamily& family : registry_.Collect()) {
      if (family.name != name) continue;
      for (const prometheus::ClientMetric& metric : family.metric) {
        std::string kind;
        std::string of;
        for (const auto& label : metric.label) {
          if (label.name == "kind") kind = label.value;
          if (label.name == "device") of = label.value;
        }
        if (of == device) found[kind] = metric;
      }
    }
    return found;
  }

  prometheus::Registry registry_;
  DeviceMetrics metrics_{registry_, "0"};
};

TEST_F(DeviceMetricsTest, RunsAreCountedByWhatTheyWereFor) {
  metrics_.Ran(RunKind::kBatch);
  metrics_.Ran(RunKind::kBatch);
  metrics_.Ran(RunKind::kWarmUp);
  auto runs = ByKind("reprise_graph_runs_total");
  ASSERT_EQ(runs.size(), static_cast<size_t>(kRunKinds));
  EXPECT_EQ(runs["batch"].counter.value, 2);
  EXPECT_EQ(runs["warm_up"].counter.value, 1);
  EXPECT_EQ(runs["canary"].counter.value, 0);
}

TEST_F(DeviceMetricsTest, StepsHaveAHistogramAndTheLongestByKind) {
  metrics_.Stepped(LoadStep::kUpload, absl::Milliseconds(3));
  metrics_.Stepped(LoadStep::kUpload, absl::Milliseconds(5));
  metrics_.Stepped(LoadStep::kUpload, absl::Milliseconds(1));
  metrics_.Stepped(LoadStep::kMapMemory, absl::Milliseconds(40));
  auto steps = ByKind("reprise_load_step_seconds");
  ASSERT_EQ(steps.size(), static_cast<size_t>(kLoadSteps));
  EXPECT_EQ(steps["upload"].histogram.sample_count, 3u);
  EXPECT_NEAR(steps["upload"].histogram.sample_sum, 0.009, 1e-9);
  std::map<double, uint64_t> buckets;
  for (const auto& bucket : steps["upload"].histogram.bucket) {
    buckets[bucket.upper_bound] = bucket.cumulative_count;
  }
  EXPECT_EQ(buckets[.002], 1u);
  EXPECT_EQ(buckets[.005], 3u);  // what a step that can be cut may take
  auto longest = ByKind("reprise_load_step_longest_seconds");
  EXPECT_NEAR(longest["upload"].gauge.value, 0.005, 1e-9);
  EXPECT_NEAR(longest["map_memory"].gauge.value, 0.04, 1e-9);
  EXPECT_EQ(longest["replay"].gauge.value, 0);
}

TEST_F(DeviceMetricsTest, GraphsAndFaults) {
  metrics_.Captured(absl::Milliseconds(7));
  metrics_.SetGraphs(12);
  metrics_.Faulted();
  EXPECT_EQ(ByKind("reprise_graph_capture_seconds")[""].histogram.sample_count,
            1u);
  EXPECT_EQ(ByKind("reprise_graphs_captured")[""].gauge.value, 12);
  metrics_.Hung();
  metrics_.Hung();
  EXPECT_EQ(ByKind("reprise_gpu_errors_total")["cuda"].counter.value, 1);
  EXPECT_EQ(ByKind("reprise_gpu_errors_total")["watchdog"].counter.value, 2);
}

TEST_F(DeviceMetricsTest, MemoryThatOnlyAGpuTakesHasPoolsOfItsOwn) {
  metrics_.SetMemory({.banks = 64, .code = 128, .graphs = 256});
  std::map<std::string, double> pools;
  for (const prometheus::MetricFamily& family : registry_.Collect()) {
    if (family.name != "reprise_device_bytes") continue;
    for (const prometheus::ClientMetric& metric : family.metric) {
      for (const auto& label : metric.label) {
        if (label.name == "pool") pools[label.value] = metric.gauge.value;
      }
    }
  }
  EXPECT_EQ(pools, (std::map<std::string, double>{
                       {"slots", 64}, {"code", 128}, {"graphs", 256}}));
}

TEST_F(DeviceMetricsTest, RungsThatWereLeftOutAreCounted) {
  metrics_.LeftOut();
  EXPECT_EQ(ByKind("reprise_rungs_left_out_total")[""].counter.value, 1);
}

TEST_F(DeviceMetricsTest, EachDeviceHasItsOwn) {
  DeviceMetrics other(registry_, "1");
  other.Ran(RunKind::kBatch);
  EXPECT_EQ(ByKind("reprise_graph_runs_total")["batch"].counter.value, 0);
  EXPECT_EQ(ByKind("reprise_graph_runs_total", "1")["batch"].counter.value, 1);
}

}  // namespace
}  // namespace reprise
