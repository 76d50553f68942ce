// What is known of the run of a slot, from its submission until it is done.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <deque>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/graph_stamps.h"
#include "runtime/cuda/handle.h"
#include "runtime/device/executable.h"

namespace reprise::cuda {

// Events are made once, never for a request: making one takes long at times.
//
// Threads: the worker's, or the loader's for its own.
struct RunRecord {
  static absl::StatusOr<RunRecord> Create(const CurrentContext& current);

  // Of copies that are timed; graph_end is what the copies back wait for.
  UniqueEvent in_begin;
  UniqueEvent in_end;
  UniqueEvent graph_end;
  UniqueEvent out_begin;
  UniqueEvent out_end;
  UniqueEvent done;  // without a time, which is quicker

  bool running = false;
  bool copies_timed = false;
  int rung = 0;
  uint64_t replay = 0;  // its number on the lane (GraphStamps)
  absl::Time submitted;
  absl::Duration expected;  // by the rung's p50
};

// Seconds of a run that is done: of its graph by `stamps`, which are its
// lane's, of copies by events. INTERNAL if a time is not to be had: it is then
// absent, never zero.
absl::StatusOr<RunTimes> TimesOf(const Driver& driver,
                                 const GraphStamps& stamps,
                                 const RunRecord& run);

// One record for each slot of a pool.
//
// Threads: any.
class RunRecords {
 public:
  absl::Status Add(const CurrentContext& current, int count)
      ABSL_LOCKS_EXCLUDED(mu_);
  RunRecord& At(int slot) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  absl::Mutex mu_;
  std::deque<RunRecord> records_ ABSL_GUARDED_BY(mu_);  // which never move
};

// Where a thread that waits for the device rests, and can be called away.
//
// Threads: any.
class Attention {
 public:
  explicit Attention(Clock& clock) : clock_(clock) {}

  void Wake() ABSL_LOCKS_EXCLUDED(mu_);
  // Whether it has been woken since the last time that this said so.
  bool Take() ABSL_LOCKS_EXCLUDED(mu_);
  // Rests until `until`, or until it is woken.
  void Rest(absl::Time until) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  Clock& clock_;
  absl::Mutex mu_;
  bool woken_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace reprise::cuda
