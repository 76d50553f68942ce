// What runs next on a device: one pure function of everything that waits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/batch/waiting.h"
#include "runtime/tensor/ladder.h"

namespace reprise {

// What one batch costs the host beyond its rung's time: wake-up and launch. It
// also makes one batch of n rows better than n batches where a device's time
// grows with the rows alone.
inline constexpr absl::Duration kHostOverhead = absl::Microseconds(20);

// Why a batch was closed: the metrics' label `reason`.
enum class DispatchReason {
  kFreeSlot,   // the device was free, and all that waited was taken
  kFull,       // no further request fits
  kPreferred,  // a preferred size was reached before the delay had passed
  kDelay,      // the oldest request had waited for max_queue_delay
  kDeadline,   // waiting longer would have cost a deadline
  kSingle,     // the model does not batch
};
inline constexpr int kDispatchReasons = 6;
absl::string_view DispatchReasonName(DispatchReason reason);

// One lane of the device: it may run one batch, have one more behind it, and
// hold one that is gathered but not submitted.
struct LaneView {
  absl::Time free_at = absl::InfinitePast();  // predicted end of what it has
  int submitted = 0;                          // batches given and not done
  bool staged = false;
};

// One queue: one variant of one model version. Queues that cannot run yet or
// have nothing waiting need not be shown.
struct QueueView {
  // In the order in which they should run; each fits on the largest rung.
  std::span<const Waiting> waiting;
  int64_t rows = 0;                            // of all that wait
  absl::Time oldest = absl::InfiniteFuture();  // earliest `enqueued`
  absl::Time last_run = absl::InfinitePast();  // when its last batch was taken
  std::span<const Rung> ladder;
  double arrival_rate = 0;  // rows per second
  std::optional<absl::Duration> slo;
  absl::Duration max_delay;        // zero: nobody waits for company
  std::span<const int> preferred;  // ascending; matters with a delay only
  bool batching = true;            // false: every request by itself
  bool keep_order = false;         // never take one request before another
  absl::Duration lead;             // to gather and hand over a batch
  int lanes = 1;                   // it may run on lanes [0, lanes)
};

struct DeviceView {
  std::span<const QueueView> queues;
  std::span<const LaneView> lanes;
  bool slot_free = true;
  bool draining = false;  // nobody waits for company any more
};

struct Decision {
  struct Drop {
    int queue = 0;
    int task = 0;  // index into `waiting`
  };

  // The batch: -1 if nothing is to be run now. A batch has a request.
  int queue = -1;
  int lane = 0;
  int rung = 0;  // index into the ladder
  int rows = 0;  // of `tasks`; they fit on the rung
  DispatchReason reason = DispatchReason::kFreeSlot;
  std::vector<int> tasks;  // indices into `waiting`, ascending

  // To be answered DEADLINE_EXCEEDED now: they cannot be in time any more, or
  // make room for those that can. Ascending within a queue, none in `tasks`.
  std::vector<Drop> drops;

  // When to ask again if nothing happens before: no arrival, no end of a run,
  // no freed slot. Later than now; InfiniteFuture: only then.
  absl::Time ask_again = absl::InfiniteFuture();
};

// For each queue, finds the rung that serves the most rows per second among
// requests still answered in time; runs the queue with the highest share of its
// capacity. Exceptions: a queue whose first request would miss its deadline by
// waiting, and a queue that has waited too long, go first. Queues without an
// SLO never lose a request by prediction.
//
// Pure; O(rungs x rows of the largest) a queue.
Decision Decide(const DeviceView& device, absl::Time now);

// The same into `decision`, whose vectors are used again: nothing is allocated
// in steady state, as long as not more than 64 queues could run something.
void Decide(const DeviceView& device, absl::Time now, Decision& decision);

// Capacity of a ladder at an SLO: the largest rung of which two fit into the
// SLO (the largest of all without one), and its rows per second.
struct Capacity {
  int rung = 0;  // index
  double rows_per_second = 0;
};
Capacity CapacityAt(std::span<const Rung> ladder,
                    std::optional<absl::Duration> slo);

// Time from submission to the end of a run: what deadlines are held against.
inline absl::Duration DueTime(const Rung& rung) {
  return rung.p999 + kHostOverhead;
}
// What a run costs the device on average: what scores are made of.
inline absl::Duration MeanTime(const Rung& rung) {
  return rung.p50 + kHostOverhead;
}

}  // namespace reprise
