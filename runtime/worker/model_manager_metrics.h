// The metrics of loads: which versions are ready, how long their loads took.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "prometheus/family.h"
#include "prometheus/gauge.h"
#include "prometheus/registry.h"

namespace reprise {

// Threads: any. Series are removed with their version, and all of them by the
// destructor.
class ModelManagerMetrics {
 public:
  // `metrics` must outlive this.
  explicit ModelManagerMetrics(prometheus::Registry& metrics);
  ~ModelManagerMetrics();

  // Version 0, for a model of which no version is known, has the label "".
  void SetReady(absl::string_view model, int64_t version, bool ready)
      ABSL_LOCKS_EXCLUDED(mu_);
  void SetLoadTime(absl::string_view model, int64_t version,
                   absl::Duration time) ABSL_LOCKS_EXCLUDED(mu_);
  // Forgets every version of a model.
  void Remove(absl::string_view model) ABSL_LOCKS_EXCLUDED(mu_);
  // Forgets one.
  void RemoveVersion(absl::string_view model, int64_t version)
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Series {
    prometheus::Gauge* ready = nullptr;
    prometheus::Gauge* load_seconds = nullptr;  // null: it was never loaded
  };
  using Key = std::pair<std::string, int64_t>;

  Series& SeriesOf(absl::string_view model, int64_t version)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Forget(const Series& series) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  prometheus::Family<prometheus::Gauge>& ready_;
  prometheus::Family<prometheus::Gauge>& load_seconds_;
  absl::Mutex mu_;
  std::map<Key, Series> series_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reprise
