#include "runtime/worker/worker_metrics.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "prometheus/metric_family.h"

namespace reprise {
namespace {

size_t SeriesOf(const prometheus::Registry& registry, const std::string& name) {
  for (const prometheus::MetricFamily& family : registry.Collect()) {
    if (family.name == name) return family.metric.size();
  }
  return 0;
}

prometheus::ClientMetric Only(const prometheus::Registry& registry,
                              const std::string& name) {
  for (const prometheus::MetricFamily& family : registry.Collect()) {
    if (family.name == name && family.metric.size() == 1) {
      return family.metric[0];
    }
  }
  ADD_FAILURE() << "not one series of " << name;
  return {};
}

TEST(WorkerMetricsTest, SeriesGoWithTheModel) {
  prometheus::Registry registry;
  WorkerMetrics worker(registry, std::nullopt);
  {
    const ModelMetrics model(worker, worker.ModelLabels("m", "1"),
                             std::nullopt);
    EXPECT_EQ(SeriesOf(registry, "reprise_queue_requests"), 1);
    EXPECT_EQ(SeriesOf(registry, "reprise_cpu_busy_seconds_total"), 3);
  }
  EXPECT_EQ(SeriesOf(registry, "reprise_queue_requests"), 0);
  EXPECT_EQ(SeriesOf(registry, "reprise_cpu_busy_seconds_total"), 0);
}

TEST(WorkerMetricsTest, AReloadOfOneVersionKeepsItsSeries) {
  prometheus::Registry registry;
  WorkerMetrics worker(registry, std::nullopt);
  const prometheus::Labels labels = worker.ModelLabels("m", "1");
  auto old_load = std::make_unique<ModelMetrics>(worker, labels, std::nullopt);
  old_load->padding_rows->Increment(3);
  const ModelMetrics new_load(worker, labels, std::nullopt);
  old_load.reset();
  new_load.padding_rows->Increment(1);
  EXPECT_EQ(Only(registry, "reprise_padding_rows_total").counter.value, 4);
}

TEST(WorkerMetricsTest, ABatchOfWaitsIsObservedAtOnce) {
  prometheus::Registry registry;
  WorkerMetrics worker(registry, std::nullopt);
  ModelMetrics model(worker, worker.ModelLabels("m", "1"),
                     absl::Milliseconds(12));
  model.queue_seconds.Observe(0.012);
  model.queue_seconds.Observe(0.0121);
  model.queue_seconds.Observe(5);
  model.queue_seconds.Flush();
  model.queue_seconds.Flush();  // nothing new
  const prometheus::ClientMetric metric =
      Only(registry, "reprise_queue_duration_seconds");
  EXPECT_EQ(metric.histogram.sample_count, 3);
  EXPECT_NEAR(metric.histogram.sample_sum, 5.0241, 1e-9);
  bool boundary = false;  // exactly at the objective
  for (const auto& bucket : metric.histogram.bucket) {
    if (bucket.upper_bound != 0.012) continue;
    boundary = true;
    EXPECT_EQ(bucket.cumulative_count, 1);
  }
  EXPECT_TRUE(boundary);
}

TEST(WorkerMetricsTest, AReloadWithAnotherObjectiveKeepsTheBounds) {
  prometheus::Registry registry;
  WorkerMetrics worker(registry, std::nullopt);
  const prometheus::Labels labels = worker.ModelLabels("m", "1");
  ModelMetrics old_load(worker, labels, std::nullopt);
  ModelMetrics new_load(worker, labels, absl::Milliseconds(42));
  old_load.queue_seconds.Observe(0.04);
  old_load.queue_seconds.Flush();
  new_load.queue_seconds.Observe(0.04);
  new_load.queue_seconds.Observe(7);
  new_load.queue_seconds.Flush();
  const prometheus::ClientMetric metric =
      Only(registry, "reprise_queue_duration_seconds");
  EXPECT_EQ(metric.histogram.sample_count, 3);
  std::map<double, uint64_t> buckets;
  for (const auto& bucket : metric.histogram.bucket) {
    buckets[bucket.upper_bound] = bucket.cumulative_count;
  }
  EXPECT_FALSE(buckets.contains(0.042));
  EXPECT_EQ(buckets[0.03], 0);
  EXPECT_EQ(buckets[0.05], 2);
}

TEST(WorkerMetricsTest, RungsHaveTheirSizeAndVariant) {
  prometheus::Registry registry;
  WorkerMetrics worker(registry, 0);
  const Ladder ladder = {
      {.rows = 4, .p50 = absl::Milliseconds(2), .p999 = absl::Milliseconds(3)}};
  VariantMetrics variant(worker, worker.ModelLabels("m", "1"), "n=3", ladder,
                         /*max_variants=*/2);
  variant.rungs[0].batches->Increment();
  const prometheus::ClientMetric metric =
      Only(registry, "reprise_batches_total");
  std::vector<std::pair<std::string, std::string>> labels;
  for (const auto& label : metric.label) {
    labels.emplace_back(label.name, label.value);
  }
  EXPECT_THAT(labels, ::testing::UnorderedElementsAre(
                          std::pair("model", "m"), std::pair("version", "1"),
                          std::pair("device", "0"), std::pair("size", "4"),
                          std::pair("variant", "n=3")));
  EXPECT_EQ(SeriesOf(registry, "reprise_graph_table_seconds"), 2);
  EXPECT_EQ(SeriesOf(registry, "reprise_gpu_time_seconds"), 1);
}

TEST(WorkerMetricsTest, CountsOutlastTheirVariantAndALoadOfTheVersion) {
  prometheus::Registry registry;
  WorkerMetrics worker(registry, std::nullopt);
  const prometheus::Labels labels = worker.ModelLabels("m", "1");
  auto old_load = std::make_unique<ModelMetrics>(worker, labels, std::nullopt);
  const Ladder ladder = {
      {.rows = 4, .p50 = absl::Milliseconds(2), .p999 = absl::Milliseconds(3)}};
  auto variant = std::make_unique<VariantMetrics>(worker, labels, "n=3", ladder,
                                                  /*max_variants=*/1);
  variant->rungs[0].batches->Increment();
  variant.reset();
  auto new_load = std::make_unique<ModelMetrics>(worker, labels, std::nullopt);
  old_load.reset();
  EXPECT_EQ(Only(registry, "reprise_batches_total").counter.value, 1);
  EXPECT_EQ(SeriesOf(registry, "reprise_cpu_time_seconds"), 1);
  EXPECT_EQ(SeriesOf(registry, "reprise_graph_table_seconds"), 0);
  new_load.reset();
  EXPECT_EQ(SeriesOf(registry, "reprise_batches_total"), 0);
  EXPECT_EQ(SeriesOf(registry, "reprise_cpu_time_seconds"), 0);
}

TEST(WorkerMetricsTest, ARunCountsRowsPaddingTimeAndError) {
  prometheus::Registry registry;
  WorkerMetrics worker(registry, std::nullopt);
  ModelMetrics model(worker, worker.ModelLabels("m", "1"), std::nullopt);
  model.ObserveRun(3,
                   {.rows = 4,
                    .p50 = absl::Milliseconds(10),
                    .p999 = absl::Milliseconds(11)},
                   {.graph = absl::Milliseconds(11),
                    .copy_in = absl::ZeroDuration(),
                    .copy_out = absl::Milliseconds(1)},
                   /*busy=*/absl::Milliseconds(7));
  EXPECT_EQ(Only(registry, "reprise_padding_rows_total").counter.value, 1);
  EXPECT_EQ(Only(registry, "reprise_batch_rows").histogram.sample_sum, 3);
  EXPECT_NEAR(
      Only(registry, "reprise_cpu_predicted_error_ratio").histogram.sample_sum,
      0.1, 1e-9);
  EXPECT_EQ(model.busy_copy_in->Value(), 0);
  EXPECT_NEAR(model.busy_graph->Value(), 0.007, 1e-9);
  EXPECT_NEAR(model.busy_copy_out->Value(), 0.001, 1e-9);
}

}  // namespace
}  // namespace reprise
