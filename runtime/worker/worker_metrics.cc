#include "runtime/worker/worker_metrics.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"

namespace reprise {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Labels;
using prometheus::Registry;

Family<Counter>& CounterFamily(Registry& metrics, const std::string& name,
                               const std::string& help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(metrics);
}

Family<Gauge>& GaugeFamily(Registry& metrics, const std::string& name,
                           const std::string& help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(metrics);
}

Family<Histogram>& HistogramFamily(Registry& metrics, const std::string& name,
                                   const std::string& help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(metrics);
}

std::string DeviceFamily(std::optional<int> gpu_index, const char* rest) {
  return absl::StrCat("reprise_", gpu_index.has_value() ? "gpu" : "cpu", rest);
}

// Seconds of waiting; with a boundary exactly at the model's SLO, so that the
// share inside it can be read off.
std::vector<double> LatencyBounds(std::optional<absl::Duration> slo) {
  std::vector<double> bounds = {.00005, .0001, .0002, .0005, .001, .002, .003,
                                .005,   .0075, .01,   .015,  .02,  .03,  .05,
                                .075,   .1,    .2,    .5,    1};
  if (slo.has_value()) {
    const double seconds = absl::ToDoubleSeconds(*slo);
    const auto at = std::lower_bound(bounds.begin(), bounds.end(), seconds);
    if (at == bounds.end() || *at != seconds) bounds.insert(at, seconds);
  }
  return bounds;
}

const std::vector<double>& DeviceBounds() {
  static const auto* const bounds = new std::vector<double>{
      .00001, .00002, .00005, .0001, .0002, .0003, .0005, .00075, .001, .0015,
      .002,   .003,   .005,   .0075, .01,   .02,   .05,   .1,     .5,   1};
  return *bounds;
}

const std::vector<double>& RowBounds() {
  static const auto* const bounds =
      new std::vector<double>{1, 2, 4, 8, 16, 32, 64, 128, 256};
  return *bounds;
}

const std::vector<double>& ErrorBounds() {
  static const auto* const bounds = new std::vector<double>{
      -.2, -.1, -.05, -.02, -.01, 0, .01, .02, .05, .1, .2};
  return *bounds;
}

// All but the last, which is infinite.
std::vector<double> BoundsOf(const Histogram& histogram) {
  std::vector<double> bounds;
  for (const auto& bucket : histogram.Collect().histogram.bucket) {
    bounds.push_back(bucket.upper_bound);
  }
  bounds.pop_back();
  return bounds;
}

Labels With(Labels labels, const std::string& name, const std::string& value) {
  labels[name] = value;
  return labels;
}

}  // namespace

BatchedHistogram::BatchedHistogram(Series<Histogram> series)
    : series_(std::move(series)),
      bounds_(BoundsOf(*series_.operator->())),
      counts_(bounds_.size() + 1) {}

void BatchedHistogram::Observe(double value) {
  const auto at = std::lower_bound(bounds_.begin(), bounds_.end(), value);
  ++counts_[static_cast<size_t>(at - bounds_.begin())];
  sum_ += value;
  ++observed_;
}

void BatchedHistogram::Flush() {
  if (observed_ == 1) {
    series_->Observe(sum_);  // looks for one bucket; the other adds to all
  } else {
    series_->ObserveMultiple(counts_, sum_);
  }
  std::fill(counts_.begin(), counts_.end(), 0);
  sum_ = 0;
  observed_ = 0;
}

VariantMetrics::VariantMetrics(WorkerMetrics& worker, const Labels& model,
                               const std::string& variant, const Ladder& ladder,
                               int max_variants)
    : counts(worker.CountsOf(model)) {
  SeriesPool& pool = worker.pool_;
  for (const Rung& rung : ladder) {
    Labels labels = With(model, "size", absl::StrCat(rung.rows));
    labels["variant"] = variant;
    const RungCounts::Rung counted =
        counts->Of(variant, rung.rows, max_variants);
    rungs.push_back(
        {.batches = counted.batches,
         .time = counted.time,
         .p50 = pool.Get(worker.table_seconds_, With(labels, "stat", "p50")),
         .p999 =
             pool.Get(worker.table_seconds_, With(labels, "stat", "p999"))});
    SetTimes(rungs.size() - 1, rung);
  }
}

void VariantMetrics::SetTimes(size_t index, const Rung& rung) {
  rungs[index].p50->Set(absl::ToDoubleSeconds(rung.p50));
  rungs[index].p999->Set(absl::ToDoubleSeconds(rung.p999));
}

ModelMetrics::ModelMetrics(WorkerMetrics& worker, const Labels& model,
                           std::optional<absl::Duration> slo)
    : rung_counts(worker.CountsOf(model)),
      queue_seconds(
          worker.pool_.Get(worker.queue_seconds_, model, LatencyBounds(slo))),
      queue_requests(worker.pool_.Get(worker.queue_requests_, model)),
      queue_bytes(worker.pool_.Get(worker.queue_bytes_, model)),
      batch_rows(worker.pool_.Get(worker.batch_rows_, model, RowBounds())),
      padding_rows(worker.pool_.Get(worker.padding_rows_, model)),
      busy_copy_in(worker.pool_.Get(worker.busy_seconds_,
                                    With(model, "phase", "copy_in"))),
      busy_graph(worker.pool_.Get(worker.busy_seconds_,
                                  With(model, "phase", "graph"))),
      busy_copy_out(worker.pool_.Get(worker.busy_seconds_,
                                     With(model, "phase", "copy_out"))),
      predicted_error(
          worker.pool_.Get(worker.predicted_error_, model, ErrorBounds())),
      load_ratio(worker.pool_.Get(worker.load_ratio_, model)),
      estimated_wait(worker.pool_.Get(worker.estimated_wait_, model)),
      variants_built(worker.pool_.Get(worker.variants_built_, model)),
      variant_seconds(worker.pool_.Get(worker.variant_seconds_, model)) {
  for (int i = 0; i < kDispatchReasons; ++i) {
    const absl::string_view name =
        DispatchReasonName(static_cast<DispatchReason>(i));
    dispatched[static_cast<size_t>(i)] = worker.pool_.Get(
        worker.dispatched_, With(model, "reason", std::string(name)));
  }
}

void ModelMetrics::ObserveRun(int rows, const Rung& predicted,
                              const RunTimes& times, absl::Duration busy) {
  batch_rows->Observe(rows);
  if (predicted.rows > rows) padding_rows->Increment(predicted.rows - rows);
  busy_graph->Increment(absl::ToDoubleSeconds(busy));
  if (times.copy_in > absl::ZeroDuration()) {
    busy_copy_in->Increment(absl::ToDoubleSeconds(times.copy_in));
  }
  if (times.copy_out > absl::ZeroDuration()) {
    busy_copy_out->Increment(absl::ToDoubleSeconds(times.copy_out));
  }
  if (predicted.p50 > absl::ZeroDuration()) {
    predicted_error->Observe(
        absl::FDivDuration(times.graph - predicted.p50, predicted.p50));
  }
}

WorkerMetrics::WorkerMetrics(Registry& metrics, std::optional<int> gpu_index)
    : device_(gpu_index.has_value() ? absl::StrCat(*gpu_index) : "cpu"),
      queue_seconds_(HistogramFamily(
          metrics, "reprise_queue_duration_seconds",
          "Time from acceptance until a request was taken into a batch")),
      queue_requests_(GaugeFamily(metrics, "reprise_queue_requests",
                                  "Requests accepted and not yet running")),
      queue_bytes_(
          GaugeFamily(metrics, "reprise_queue_bytes",
                      "Input bytes of requests accepted and not yet running")),
      batches_(CounterFamily(metrics, "reprise_batches_total",
                             "Executed batches, by the size they ran at")),
      batch_rows_(HistogramFamily(metrics, "reprise_batch_rows",
                                  "Real rows of an executed batch")),
      padding_rows_(CounterFamily(metrics, "reprise_padding_rows_total",
                                  "Rows computed for nobody")),
      device_seconds_(HistogramFamily(
          metrics, DeviceFamily(gpu_index, "_time_seconds"),
          "Time of one execution by the device's own clock, copies apart")),
      busy_seconds_(
          CounterFamily(metrics, DeviceFamily(gpu_index, "_busy_seconds_total"),
                        "Time that the device spent on the model, by phase")),
      predicted_error_(HistogramFamily(
          metrics, DeviceFamily(gpu_index, "_predicted_error_ratio"),
          "(measured - table) / table of each execution")),
      table_seconds_(GaugeFamily(
          metrics, "reprise_graph_table_seconds",
          "Execution times that the batcher reckons with, by size")),
      load_ratio_(
          GaugeFamily(metrics, "reprise_load_ratio",
                      "Arrival rate by the capacity at the model's objective")),
      estimated_wait_(GaugeFamily(
          metrics, "reprise_estimated_wait_seconds",
          "Time to its answer that a request arriving now can expect")),
      dispatched_(CounterFamily(metrics, "reprise_batch_dispatch_total",
                                "Batches, by what closed them")),
      variants_built_(CounterFamily(metrics, "reprise_variants_built_total",
                                    "Variants made on demand")),
      variant_seconds_(CounterFamily(
          metrics, "reprise_variant_build_seconds_total",
          "Time spent on making variants on demand, failures included")),
      slots_(GaugeFamily(
          metrics, "reprise_slots_in_flight",
          "Slots whose batch is gathered, runs, or is being answered")),
      device_bytes_(DeviceBytes(metrics)),
      live_bytes_(GaugeFamily(
          metrics, "reprise_live_activation_bytes",
          "What the arenas cannot be smaller than: activations that are needed "
          "at the same time")),
      pinned_bytes_(GaugeFamily(metrics, "reprise_pinned_bytes",
                                "Host memory of all slots")),
      slots_in_flight(pool_.Get(slots_, {{"device", device_}})),
      weight_bytes(
          pool_.Get(device_bytes_, {{"device", device_}, {"pool", "weights"}})),
      arena_bytes(
          pool_.Get(device_bytes_, {{"device", device_}, {"pool", "arena"}})),
      live_bytes(pool_.Get(live_bytes_, {{"device", device_}})),
      pinned_bytes(pool_.Get(pinned_bytes_, {{"device", device_}})) {}

prometheus::Family<prometheus::Gauge>& DeviceBytes(
    prometheus::Registry& metrics) {
  return GaugeFamily(metrics, "reprise_device_bytes",
                     "Memory that models take on the device, by what it is "
                     "for");
}

std::shared_ptr<RungCounts> WorkerMetrics::CountsOf(const Labels& model) {
  absl::MutexLock lock(&mu_);
  std::shared_ptr<RungCounts> counts;
  if (const auto it = counts_.find(model); it != counts_.end()) {
    counts = it->second.lock();
  }
  if (counts != nullptr) return counts;
  std::erase_if(counts_, [](const auto& of) { return of.second.expired(); });
  counts = std::make_shared<RungCounts>(pool_, batches_, device_seconds_, model,
                                        DeviceBounds());
  counts_[model] = counts;
  return counts;
}

Labels WorkerMetrics::ModelLabels(const std::string& model,
                                  const std::string& version) const {
  return {{"model", model}, {"version", version}, {"device", device_}};
}

}  // namespace reprise
