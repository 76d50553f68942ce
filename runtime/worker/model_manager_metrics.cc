#include "runtime/worker/model_manager_metrics.h"

namespace reprise {

ModelManagerMetrics::ModelManagerMetrics(prometheus::Registry& registry)
    : ready_(prometheus::BuildGauge()
                 .Name("reprise_model_ready")
                 .Help("Whether a model version is ready (1) or not (0)")
                 .Register(registry)),
      load_seconds_(prometheus::BuildGauge()
                        .Name("reprise_model_load_seconds")
                        .Help("Seconds that the last load of a version took")
                        .Register(registry)) {}

ModelManagerMetrics::~ModelManagerMetrics() {
  absl::MutexLock lock(&mu_);
  for (const auto& [key, series] : series_) {
    ready_.Remove(series.ready);
    load_seconds_.Remove(series.load_seconds);
  }
}

void ModelManagerMetrics::SetReady(absl::string_view model, int64_t version,
                                   bool ready) {
  absl::MutexLock lock(&mu_);
  SeriesOf(model, version).ready->Set(ready ? 1 : 0);
}

void ModelManagerMetrics::SetLoadTime(absl::string_view model, int64_t version,
                                      absl::Duration time) {
  absl::MutexLock lock(&mu_);
  SeriesOf(model, version).load_seconds->Set(absl::ToDoubleSeconds(time));
}

void ModelManagerMetrics::Remove(absl::string_view model) {
  absl::MutexLock lock(&mu_);
  for (auto it = series_.begin(); it != series_.end();) {
    if (it->first.first == model) {
      ready_.Remove(it->second.ready);
      load_seconds_.Remove(it->second.load_seconds);
      it = series_.erase(it);
    } else {
      ++it;
    }
  }
}

ModelManagerMetrics::Series& ModelManagerMetrics::SeriesOf(
    absl::string_view model, int64_t version) {
  Series& series = series_[Key(std::string(model), version)];
  if (series.ready == nullptr) {
    const prometheus::Labels labels = {{"model", std::string(model)},
                                       {"version", std::to_string(version)}};
    series.ready = &ready_.Add(labels);
    series.load_seconds = &load_seconds_.Add(labels);
  }
  return series;
}

}  // namespace reprise
