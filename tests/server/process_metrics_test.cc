#include "server/process_metrics.h"

#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise::testing {
namespace {

TEST(ProcessMetricsTest, ThisProcessUsesMemoryFilesAndTime) {
  std::map<std::string, double> values;
  for (const prometheus::MetricFamily& family : ProcessMetrics().Collect()) {
    const prometheus::ClientMetric& metric = family.metric.at(0);
    values[family.name] = family.type == prometheus::MetricType::Counter
                              ? metric.counter.value
                              : metric.gauge.value;
  }
  EXPECT_GT(values["process_resident_memory_bytes"], 1e6);
  EXPECT_GT(values["process_virtual_memory_bytes"],
            values["process_resident_memory_bytes"]);
  EXPECT_GE(values["process_open_fds"], 3);
  EXPECT_GE(values["process_max_fds"], values["process_open_fds"]);
  EXPECT_GT(values["process_start_time_seconds"], 1.6e9);
  EXPECT_GE(values["process_threads"], 1);
  EXPECT_EQ(values.count("process_cpu_seconds_total"), 1u);
}

}  // namespace
}  // namespace reprise::testing
