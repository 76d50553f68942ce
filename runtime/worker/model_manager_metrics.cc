#include "runtime/worker/model_manager_metrics.h"

namespace reprise {
namespace {

prometheus::Labels LabelsOf(absl::string_view model, int64_t version) {
  return {{"model", std::string(model)},
          {"version", version == 0 ? "" : std::to_string(version)}};
}

}  // namespace

ModelManagerMetrics::ModelManagerMetrics(prometheus::Registry& metrics)
    : ready_(prometheus::BuildGauge()
                 .Name("reprise_model_ready")
                 .Help("Whether a model version is ready (1) or not (0)")
                 .Register(metrics)),
      load_seconds_(
          prometheus::BuildGauge()
              .Name("reprise_model_load_seconds")
              .Help(
                  "Seconds that the last load of a version that succeeded took")
              .Register(metrics)) {}

ModelManagerMetrics::~ModelManagerMetrics() {
  absl::MutexLock lock(&mu_);
  for (const auto& [key, series] : series_) Forget(series);
}

void ModelManagerMetrics::SetReady(absl::string_view model, int64_t version,
                                   bool ready) {
  absl::MutexLock lock(&mu_);
  SeriesOf(model, version).ready->Set(ready ? 1 : 0);
}

void ModelManagerMetrics::SetLoadTime(absl::string_view model, int64_t version,
                                      absl::Duration time) {
  absl::MutexLock lock(&mu_);
  Series& series = SeriesOf(model, version);
  if (series.load_seconds == nullptr) {
    series.load_seconds = &load_seconds_.Add(LabelsOf(model, version));
  }
  series.load_seconds->Set(absl::ToDoubleSeconds(time));
}

void ModelManagerMetrics::Remove(absl::string_view model) {
  absl::MutexLock lock(&mu_);
  for (auto it = series_.begin(); it != series_.end();) {
    if (it->first.first == model) {
      Forget(it->second);
      it = series_.erase(it);
    } else {
      ++it;
    }
  }
}

void ModelManagerMetrics::RemoveVersion(absl::string_view model,
                                        int64_t version) {
  absl::MutexLock lock(&mu_);
  const auto it = series_.find(Key(std::string(model), version));
  if (it == series_.end()) return;
  Forget(it->second);
  series_.erase(it);
}

void ModelManagerMetrics::Forget(const Series& series) {
  ready_.Remove(series.ready);
  if (series.load_seconds != nullptr) load_seconds_.Remove(series.load_seconds);
}

ModelManagerMetrics::Series& ModelManagerMetrics::SeriesOf(
    absl::string_view model, int64_t version) {
  Series& series = series_[Key(std::string(model), version)];
  if (series.ready == nullptr) {
    series.ready = &ready_.Add(LabelsOf(model, version));
  }
  return series;
}

}  // namespace reprise
