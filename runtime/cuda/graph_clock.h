// One time line for the replays of all lanes of a GPU.
#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/handle.h"

namespace reprise::cuda {

// Events tell only how long one is after another, in single precision: good to
// a microsecond for some seconds. So the reference moves along: every few
// seconds another event takes over, whose distance to the one before is known.
//
// With one lane nothing overlaps, and nothing is recorded.
//
// Threads: AddLane from any; the rest on the worker's.
class GraphClock {
 public:
  // A time line's place to measure from.
  using Reference = int;

  static absl::StatusOr<std::unique_ptr<GraphClock>> Create(
      const CurrentContext& current);

  void AddLane() { lanes_.fetch_add(1, std::memory_order_relaxed); }
  bool needed() const { return lanes_.load(std::memory_order_relaxed) > 1; }

  // Where a run that is submitted to `stream` at `now` is to be measured from:
  // until Release.
  absl::StatusOr<Reference> Acquire(CUstream stream, absl::Time now);
  void Release(Reference reference);

  // When `event`, of such a run, happened. It is done.
  absl::StatusOr<absl::Duration> TimeOf(CUevent event,
                                        Reference reference) const;

 private:
  struct Mark {
    UniqueEvent event;
    absl::Duration at;  // on the time line
    int users = 0;
  };

  explicit GraphClock(const Driver& driver) : driver_(driver) {}

  const Driver& driver_;
  std::array<Mark, 2> marks_;
  Reference current_ = 0;
  bool pending_ = false;  // the other one is recorded, and not known to be done
  absl::Time moved_ = absl::InfinitePast();
  std::atomic<int> lanes_{0};
};

}  // namespace reprise::cuda
