// What a worker reports: queues, batches and device time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "prometheus/counter.h"
#include "prometheus/family.h"
#include "prometheus/gauge.h"
#include "prometheus/histogram.h"
#include "prometheus/labels.h"
#include "prometheus/registry.h"
#include "runtime/batch/policy.h"
#include "runtime/device/executable.h"
#include "runtime/tensor/ladder.h"
#include "runtime/worker/rung_counts.h"
#include "runtime/worker/series.h"

namespace reprise {

class WorkerMetrics;

// A histogram to which one batch adds all of its observations at once. Its
// bounds are those that the series was made with: a reload may ask for others.
//
// Threads: Observe and Flush by one thread at a time.
class BatchedHistogram {
 public:
  explicit BatchedHistogram(Series<prometheus::Histogram> series);
  void Observe(double value);
  void Flush();

 private:
  Series<prometheus::Histogram> series_;
  const std::vector<double> bounds_;
  std::vector<double> counts_;
  double sum_ = 0;
  int observed_ = 0;
};

// The series of one variant, by rung. Its times go with it, its counts with the
// model version.
struct VariantMetrics {
  // `max_variants` as RungCounts::Of.
  VariantMetrics(WorkerMetrics& worker, const prometheus::Labels& model,
                 const std::string& variant, const Ladder& ladder,
                 int max_variants);

  struct PerRung {
    prometheus::Counter* batches;  // of `counts`, as is `time`
    prometheus::Histogram* time;
    Series<prometheus::Gauge> p50;
    Series<prometheus::Gauge> p999;
  };

  // The table's times of rung `index`.
  void SetTimes(size_t index, const Rung& rung);

  const std::shared_ptr<RungCounts> counts;
  std::vector<PerRung> rungs;
};

// The series of one model version on this device.
struct ModelMetrics {
  ModelMetrics(WorkerMetrics& worker, const prometheus::Labels& model,
               std::optional<absl::Duration> slo);

  const std::shared_ptr<RungCounts> rung_counts;  // kept for its variants
  BatchedHistogram queue_seconds;
  Series<prometheus::Gauge> queue_requests;
  Series<prometheus::Gauge> queue_bytes;
  Series<prometheus::Histogram> batch_rows;
  Series<prometheus::Counter> padding_rows;
  Series<prometheus::Counter> busy_copy_in;
  Series<prometheus::Counter> busy_graph;
  Series<prometheus::Counter> busy_copy_out;
  Series<prometheus::Histogram> predicted_error;
  Series<prometheus::Gauge> load_ratio;
  Series<prometheus::Gauge> estimated_wait;
  std::array<Series<prometheus::Counter>, kDispatchReasons> dispatched;
  Series<prometheus::Counter> variants_built;
  Series<prometheus::Counter> variant_seconds;

  // One run of `rows` real rows on a rung predicted to take `predicted`. `busy`
  // is its graph's time, less what runs of other lanes have covered.
  void ObserveRun(int rows, const Rung& predicted, const RunTimes& times,
                  absl::Duration busy);
};

// The family of what models take on a device, which has label `pool`.
prometheus::Family<prometheus::Gauge>& DeviceBytes(
    prometheus::Registry& metrics);

// The families, named reprise_* and with label `device`; those of device time
// are reprise_cpu_* or reprise_gpu_*.
//
// Lifecycle: outlives every ModelMetrics and VariantMetrics made with it.
// Threads: any.
class WorkerMetrics {
 public:
  // `metrics` must outlive it. `gpu_index` as Device::gpu_index.
  WorkerMetrics(prometheus::Registry& metrics, std::optional<int> gpu_index);

  // The value of label `device`: "cpu", or the GPU's index.
  const std::string& device() const { return device_; }

  // {model, version, device}.
  prometheus::Labels ModelLabels(const std::string& model,
                                 const std::string& version) const;

 private:
  friend struct ModelMetrics;
  friend struct VariantMetrics;

  // Those that a load of the same version has, or new ones.
  std::shared_ptr<RungCounts> CountsOf(const prometheus::Labels& model)
      ABSL_LOCKS_EXCLUDED(mu_);

  const std::string device_;
  SeriesPool pool_;
  prometheus::Family<prometheus::Histogram>& queue_seconds_;
  prometheus::Family<prometheus::Gauge>& queue_requests_;
  prometheus::Family<prometheus::Gauge>& queue_bytes_;
  prometheus::Family<prometheus::Counter>& batches_;
  prometheus::Family<prometheus::Histogram>& batch_rows_;
  prometheus::Family<prometheus::Counter>& padding_rows_;
  prometheus::Family<prometheus::Histogram>& device_seconds_;
  prometheus::Family<prometheus::Counter>& busy_seconds_;
  prometheus::Family<prometheus::Histogram>& predicted_error_;
  prometheus::Family<prometheus::Gauge>& table_seconds_;
  prometheus::Family<prometheus::Gauge>& load_ratio_;
  prometheus::Family<prometheus::Gauge>& estimated_wait_;
  prometheus::Family<prometheus::Counter>& dispatched_;
  prometheus::Family<prometheus::Counter>& variants_built_;
  prometheus::Family<prometheus::Counter>& variant_seconds_;
  prometheus::Family<prometheus::Gauge>& slots_;
  prometheus::Family<prometheus::Gauge>& device_bytes_;
  prometheus::Family<prometheus::Gauge>& live_bytes_;
  prometheus::Family<prometheus::Gauge>& pinned_bytes_;

  absl::Mutex mu_;
  std::map<prometheus::Labels, std::weak_ptr<RungCounts>> counts_
      ABSL_GUARDED_BY(mu_);

 public:
  // Slots whose batch is gathered, runs, or is still being answered.
  const Series<prometheus::Gauge> slots_in_flight;
  // Memory of the device, by what it is for, and of the host's slots.
  const Series<prometheus::Gauge> weight_bytes;
  const Series<prometheus::Gauge> arena_bytes;
  const Series<prometheus::Gauge> live_bytes;
  const Series<prometheus::Gauge> pinned_bytes;
};

}  // namespace reprise
