// The bounded, ordered, expiring queue of one model variant on one device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/batch/batch_config.h"
#include "runtime/batch/infer_task.h"
#include "runtime/batch/rate_estimator.h"
#include "runtime/batch/waiting.h"

namespace reprise {

// A request of a low priority that has waited this long runs before all others:
// the bound on starvation.
inline constexpr absl::Duration kPriorityAge = absl::Milliseconds(500);

// What the queues of all variants of a model hold together, and its bounds. A
// request counts from its acceptance until it is answered or submitted, so
// also while it is gathered.
//
// Threads: none of its own; guarded by its owner.
class QueueBounds {
 public:
  // `config` must outlive it.
  explicit QueueBounds(const BatchConfig& config) : config_(config) {}

  // Counts the request. RESOURCE_EXHAUSTED names the bound that it would pass:
  // --max-queue-requests, --max-queue-bytes or max_queue_size of its priority.
  absl::Status Enter(const InferTask& task);
  void Leave(const InferTask& task);

  // The level at which `task` runs: 0 without priorities; the model's default
  // for 0 and for what lies beyond the levels.
  uint32_t Level(const InferTask& task) const;
  const QueuePolicy& Policy(uint32_t level) const;

  int64_t requests() const { return requests_; }
  int64_t bytes() const { return bytes_; }
  uint64_t NextSequence() { return next_sequence_++; }
  const BatchConfig& config() const { return config_; }

 private:
  const BatchConfig& config_;
  int64_t requests_ = 0;
  int64_t bytes_ = 0;
  uint64_t next_sequence_ = 0;
  absl::flat_hash_map<uint32_t, int64_t> by_level_;
};

// Runs in order of: overdue ones last (timeout_action DELAY), priority, reply
// due (only with an SLO), acceptance. With preserve_ordering: acceptance only.
//
// Lifecycle: Offer, then for each request once: Tidy, Remove or Take.
// Threads: none of its own; guarded by its owner. In steady state nothing is
// allocated.
class BatchQueue {
 public:
  // `bounds` must outlive it.
  explicit BatchQueue(QueueBounds& bounds);

  // RESOURCE_EXHAUSTED as QueueBounds::Enter; DEADLINE_EXCEEDED if a limit of
  // it has passed already. On an error the queue is unchanged.
  // `cost` is kept with the request.
  absl::Status Offer(InferTask& task, absl::Time now,
                     absl::Duration cost = absl::ZeroDuration());

  // Moves what has expired to the end of `expired`; reorders what is overdue or
  // has aged. To be called when next_event() has come.
  void Tidy(absl::Time now, std::vector<Waiting>& expired);

  // Takes `task` out, wherever it is; nothing if it does not wait here.
  std::optional<Waiting> Remove(const InferTask& task);

  // Takes out the requests at `indices` (ascending, into waiting()) and appends
  // them to `taken`. They go on counting in the bounds: the owner calls Leave.
  void Take(std::span<const int> indices, std::vector<Waiting>& taken);

  // Takes out everything, and counts it out of the bounds.
  void Clear();

  std::span<const Waiting> waiting() const {
    return std::span(items_).subspan(head_);
  }
  bool empty() const { return head_ == items_.size(); }
  int64_t rows() const { return rows_; }
  int64_t bytes() const { return bytes_; }
  // Of those that would run before `task`, if it were offered now.
  int64_t RowsBefore(InferTask& task, absl::Time now) const;
  // The earliest `event` of those that wait, and the earliest `enqueued`; the
  // infinite future if none waits. Recomputed where the earliest one has left.
  absl::Time next_event();
  absl::Time oldest();
  double arrival_rate(absl::Time now) const { return rate_.PerSecond(now); }

 private:
  bool Before(const Waiting& a, const Waiting& b) const;
  Waiting Describe(InferTask& task, absl::Time now) const;
  absl::Time EventOf(const Waiting& waiting) const;
  void Insert(const Waiting& waiting);
  void Forget(const Waiting& waiting);
  void Refresh();

  QueueBounds& bounds_;
  const bool by_deadline_;
  const bool by_level_;
  std::vector<Waiting> items_;  // those before head_ are gone
  size_t head_ = 0;
  int64_t rows_ = 0;
  int64_t bytes_ = 0;
  bool stale_ = false;  // next_event_ and oldest_ are bounds only
  absl::Time next_event_ = absl::InfiniteFuture();
  absl::Time oldest_ = absl::InfiniteFuture();
  RateEstimator rate_;
};

// Why `waiting` was not run: DEADLINE_EXCEEDED, which tells the caller's
// deadline, the caller's timeout and the model's timeout apart.
absl::Status ExpiredStatus(const Waiting& waiting, const QueueBounds& bounds,
                           absl::Time now);

}  // namespace reprise
