// Metric series that are removed when their last owner goes.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "prometheus/family.h"
#include "prometheus/labels.h"

namespace reprise {

class SeriesPool;

// A share of one series. Two loads of one model version have the same labels
// and thus the same series: it goes with the last share.
//
// Threads: any, one at a time; the metric itself is safe.
template <typename Metric>
class Series {
 public:
  Series() = default;
  Series(Series&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)),
        family_(other.family_),
        metric_(other.metric_) {}
  Series& operator=(Series&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(family_, other.family_);
    std::swap(metric_, other.metric_);
    return *this;
  }
  ~Series();

  Metric* operator->() const { return metric_; }

 private:
  friend class SeriesPool;
  Series(SeriesPool* pool, prometheus::Family<Metric>* family, Metric* metric)
      : pool_(pool), family_(family), metric_(metric) {}

  SeriesPool* pool_ = nullptr;
  prometheus::Family<Metric>* family_ = nullptr;  // not owned
  Metric* metric_ = nullptr;                      // owned by the family
};

// Counts the shares of each series.
//
// Lifecycle: outlives every Series it gave out.
// Threads: any.
class SeriesPool {
 public:
  // `args` as the metric's constructor takes them (a histogram's boundaries).
  template <typename Metric, typename... Args>
  Series<Metric> Get(prometheus::Family<Metric>& family,
                     const prometheus::Labels& labels, const Args&... args)
      ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    Metric& metric = family.Add(labels, args...);
    ++shares_[&metric];
    return Series<Metric>(this, &family, &metric);
  }

 private:
  template <typename Metric>
  friend class Series;

  template <typename Metric>
  void Drop(prometheus::Family<Metric>& family, Metric* metric)
      ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    const auto it = shares_.find(metric);
    if (--it->second > 0) return;
    shares_.erase(it);
    family.Remove(metric);
  }

  absl::Mutex mu_;
  std::map<const void*, int> shares_ ABSL_GUARDED_BY(mu_);
};

template <typename Metric>
Series<Metric>::~Series() {
  if (pool_ != nullptr) pool_->Drop(*family_, metric_);
}

}  // namespace reprise
