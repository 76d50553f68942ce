#include "server/grpc/infer_metrics.h"

#include <algorithm>

#include "server/grpc/status.h"

namespace reprise {
namespace {

constexpr char kMethod[] = "ModelInfer";
// A reload has a uid of its own; old ones are forgotten beyond this.
constexpr size_t kMaxUids = 1024;

constexpr std::array<const char*, 7> kOutcomeNames = {
    "met",       "late",    "dropped_queue", "rejected_admission",
    "cancelled", "invalid", "failed"};

prometheus::Histogram::BucketBoundaries LatencyBuckets(absl::Duration slo) {
  prometheus::Histogram::BucketBoundaries bounds = {
      .0005, .001, .002, .003, .005, .0075, .01, .015,
      .02,   .03,  .05,  .075, .1,   .2,    .5,  1};
  const double due = absl::ToDoubleSeconds(slo);
  if (due > 0 && !std::binary_search(bounds.begin(), bounds.end(), due)) {
    bounds.insert(std::upper_bound(bounds.begin(), bounds.end(), due), due);
  }
  return bounds;
}

ModelSeries::Families MakeFamilies(prometheus::Registry& metrics) {
  return {
      prometheus::BuildCounter()
          .Name("reprise_requests_total")
          .Help("Finished ModelInfer calls, by status code")
          .Register(metrics),
      prometheus::BuildCounter()
          .Name("reprise_request_rows_total")
          .Help("Rows (inferences) answered OK")
          .Register(metrics),
      prometheus::BuildHistogram()
          .Name("reprise_request_duration_seconds")
          .Help("ModelInfer: whole message received to reply handed to gRPC")
          .Register(metrics),
      prometheus::BuildCounter()
          .Name("reprise_request_deadline_total")
          .Help("ModelInfer calls by how they stood to their deadline")
          .Register(metrics),
  };
}

prometheus::Counter& ByteCounter(prometheus::Registry& metrics,
                                 const std::string& name,
                                 const std::string& help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(metrics).Add(
      {{"method", kMethod}});
}

}  // namespace

ModelSeries::ModelSeries(const Families& families, const Labels& labels,
                         absl::Duration slo)
    : families_(families),
      labels_(labels),
      rows_(families.rows.Add(
          {{"model", labels.model}, {"version", labels.version}})),
      duration_(families.duration.Add(
          {{"model", labels.model}, {"version", labels.version}},
          LatencyBuckets(slo))) {
  for (size_t i = 0; i < kOutcomes; ++i) {
    outcomes_[i] = &families.deadlines.Add({{"model", labels.model},
                                            {"version", labels.version},
                                            {"outcome", kOutcomeNames[i]}});
  }
}

void ModelSeries::Count(absl::StatusCode code, DeadlineOutcome outcome,
                        absl::Duration duration) {
  CodeCounter(code).Increment();
  outcomes_[static_cast<size_t>(outcome)]->Increment();
  duration_.Observe(absl::ToDoubleSeconds(duration));
}

prometheus::Counter& ModelSeries::CodeCounter(absl::StatusCode code) {
  std::atomic<prometheus::Counter*>& slot =
      codes_[std::min(static_cast<size_t>(code), kCodes - 1)];
  prometheus::Counter* counter = slot.load(std::memory_order_acquire);
  if (counter == nullptr) {
    // The family gives every caller with these labels the same counter.
    counter = &families_.requests.Add({{"model", labels_.model},
                                       {"version", labels_.version},
                                       {"code", CodeName(code)}});
    slot.store(counter, std::memory_order_release);
  }
  return *counter;
}

InferMetrics::InferMetrics(prometheus::Registry& metrics)
    : families_(MakeFamilies(metrics)),
      received_(ByteCounter(metrics, "reprise_grpc_received_bytes_total",
                            "Bytes of ModelInfer's request messages")),
      sent_(ByteCounter(metrics, "reprise_grpc_sent_bytes_total",
                        "Bytes of ModelInfer's reply messages")),
      unknown_(std::make_unique<ModelSeries>(families_, ModelSeries::Labels{},
                                             absl::ZeroDuration())) {}

ModelSeries& InferMetrics::For(const ModelVersion& model) {
  // Most calls are for the model of the call before.
  ModelSeries* last = last_.load(std::memory_order_acquire);
  if (last != nullptr && last->uid() == model.uid()) return *last;
  absl::MutexLock lock(&mu_);
  const auto found = by_uid_.find(model.uid());
  if (found != by_uid_.end()) {
    found->second->SetUid(model.uid());
    last_.store(found->second, std::memory_order_release);
    return *found->second;
  }
  if (by_uid_.size() >= kMaxUids) by_uid_.clear();
  std::unique_ptr<ModelSeries>& series =
      by_version_[{model.name(), model.version()}];
  if (series == nullptr) {
    series = std::make_unique<ModelSeries>(
        families_, ModelSeries::Labels{model.name(), model.version_text()},
        model.config().batch.slo.value_or(absl::ZeroDuration()));
  }
  by_uid_[model.uid()] = series.get();
  return *series;
}

}  // namespace reprise
