// Metrics of ModelInfer calls.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "prometheus/counter.h"
#include "prometheus/family.h"
#include "prometheus/histogram.h"
#include "prometheus/registry.h"
#include "runtime/model/model_version.h"

namespace reprise {

// How a call stood to its deadline. Each call counts under exactly one.
enum class DeadlineOutcome {
  kMet,
  kLate,               // computed, but after it was due
  kDroppedQueue,       // its time ran out while it waited
  kRejectedAdmission,  // refused by a full queue, or since it could not be met
  kCancelled,
  kInvalid,  // the request itself was refused
  kFailed,
};

// Series of one model version. They outlive the version: counters that vanish
// with a reload would not add up.
//
// Threads: any.
class ModelSeries {
 public:
  struct Families {
    prometheus::Family<prometheus::Counter>& requests;
    prometheus::Family<prometheus::Counter>& rows;
    prometheus::Family<prometheus::Histogram>& duration;
    prometheus::Family<prometheus::Counter>& deadlines;
  };
  struct Labels {
    std::string model;
    std::string version;
  };
  // `slo`, where it is positive, becomes a bucket bound. A changed SLO becomes
  // one only at the next start of the process.
  ModelSeries(const Families& families, const Labels& labels,
              absl::Duration slo);

  void Count(absl::StatusCode code, DeadlineOutcome outcome,
             absl::Duration duration);
  void AddRows(int rows) { rows_.Increment(rows); }

  // The load of the version that was counted last.
  uint64_t uid() const { return uid_.load(std::memory_order_acquire); }
  void SetUid(uint64_t uid) { uid_.store(uid, std::memory_order_release); }

 private:
  static constexpr size_t kCodes = 17;
  static constexpr size_t kOutcomes = 7;
  prometheus::Counter& CodeCounter(absl::StatusCode code);

  const Families families_;
  const Labels labels_;
  prometheus::Counter& rows_;
  prometheus::Histogram& duration_;
  std::array<prometheus::Counter*, kOutcomes> outcomes_;
  // Made on first use: a series for each code of each model would be noise.
  std::array<std::atomic<prometheus::Counter*>, kCodes> codes_{};
  std::atomic<uint64_t> uid_{0};
};

// Threads: any.
class InferMetrics {
 public:
  // `metrics` must outlive this.
  explicit InferMetrics(prometheus::Registry& metrics);

  // The series of a version; they live as long as this object.
  ModelSeries& For(const ModelVersion& model) ABSL_LOCKS_EXCLUDED(mu_);
  // Of calls whose model is not known.
  ModelSeries& unknown() { return *unknown_; }

  void AddReceived(size_t bytes) {
    received_.Increment(static_cast<double>(bytes));
  }
  void AddSent(size_t bytes) { sent_.Increment(static_cast<double>(bytes)); }

 private:
  const ModelSeries::Families families_;
  prometheus::Counter& received_;
  prometheus::Counter& sent_;
  const std::unique_ptr<ModelSeries> unknown_;

  std::atomic<ModelSeries*> last_{nullptr};

  absl::Mutex mu_;
  absl::flat_hash_map<uint64_t, ModelSeries*> by_uid_ ABSL_GUARDED_BY(mu_);
  std::map<std::pair<std::string, int64_t>, std::unique_ptr<ModelSeries>>
      by_version_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reprise
