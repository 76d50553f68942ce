// The counts of a model version's batches, by variant and rung.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "prometheus/counter.h"
#include "prometheus/family.h"
#include "prometheus/histogram.h"
#include "prometheus/labels.h"
#include "runtime/worker/series.h"

namespace reprise {

// The series of one model version on one device. Rungs are dropped, variants
// leave and versions are reloaded, but what was counted of them must go on
// adding up to the version's batches: a series stays from its first use until
// nothing of the version is served any more. So that callers with ever new
// dims do not make ever more series, only the first variants have their own;
// all that come later share those of variant "other".
//
// Lifecycle: shared by the loads of the version that overlap, and by their
// variants.
// Threads: any; a lock is taken where a rung is looked up, and none to count.
class RungCounts {
 public:
  // Owned by this.
  struct Rung {
    prometheus::Counter* batches = nullptr;
    prometheus::Histogram* time = nullptr;
  };

  // `pool` and the families must outlive it; `bounds` are those of `time`.
  RungCounts(SeriesPool& pool, prometheus::Family<prometheus::Counter>& batches,
             prometheus::Family<prometheus::Histogram>& time,
             prometheus::Labels model, std::vector<double> bounds);

  // `max_variants`: how many variants have series of their own.
  Rung Of(const std::string& variant, int size, int max_variants)
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Counts {
    Series<prometheus::Counter> batches;
    Series<prometheus::Histogram> time;
  };

  SeriesPool& pool_;
  prometheus::Family<prometheus::Counter>& batches_;
  prometheus::Family<prometheus::Histogram>& time_;
  const prometheus::Labels model_;
  const std::vector<double> bounds_;

  absl::Mutex mu_;
  std::set<std::string> named_ ABSL_GUARDED_BY(mu_);
  std::map<std::pair<std::string, int>, Counts> counts_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reprise
