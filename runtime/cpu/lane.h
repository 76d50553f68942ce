// The execution thread of a lane, and the board on which runs are reported.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "runtime/base/thread.h"
#include "runtime/cpu/arena.h"
#include "runtime/cpu/onednn.h"
#include "runtime/cpu/program.h"
#include "runtime/device/executable.h"
#include "runtime/prepare/host_slot.h"

namespace reprise::cpu {

// Tells those who wait that a slot is done, or that they are wanted elsewhere.
// It guards the RunState of all slots.
//
// Threads: any.
class RunBoard {
 public:
  explicit RunBoard(Clock& clock) : clock_(clock) {}

  void Begin(HostSlot& slot) ABSL_LOCKS_EXCLUDED(mu_);
  // Of a run that was begun, or that nobody could wait for until now.
  void Finish(HostSlot& slot, absl::Status status, const RunTimes& times)
      ABSL_LOCKS_EXCLUDED(mu_);

  // As Executable::Wait. FAILED_PRECONDITION if nothing was begun. One Wake
  // ends one call; a call whose slot is done takes it along.
  absl::StatusOr<RunTimes> Wait(HostSlot& slot, absl::Time deadline)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Waits for ever, and leaves a Wake to others: for a loader's own runs.
  absl::StatusOr<RunTimes> Await(HostSlot& slot) ABSL_LOCKS_EXCLUDED(mu_);
  void Wake() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  static absl::StatusOr<RunTimes> Take(HostSlot& slot);

  Clock& clock_;
  absl::Mutex mu_;
  bool woken_ ABSL_GUARDED_BY(mu_) = false;
};

// One run: `rows` rows of `slot`, padded to `rung` with copies of row 0.
// `rung` 0 means that the slot is used as it is.
struct Job {
  Runner* runner = nullptr;
  HostSlot* slot = nullptr;
  int rows = 1;
  int rung = 0;
};

// Runs jobs one after the other over its arena, on its own thread or, if that
// one is at rest, on the caller's.
//
// Threads: any.
class Lane {
 public:
  // Fails as Arena::Create and OneDnn::Create. `board` and `clock` must outlive
  // the lane.
  static absl::StatusOr<std::unique_ptr<Lane>> Create(int index,
                                                      int64_t arena_bytes,
                                                      RunBoard& board,
                                                      Clock& clock);
  ~Lane();

  Arena& arena() { return *arena_; }
  const std::shared_ptr<OneDnn>& dnn() const { return dnn_; }

  // Queues the job; its slot must have been begun. RESOURCE_EXHAUSTED if
  // 1,024 jobs wait already.
  absl::Status Submit(const Job& job) ABSL_LOCKS_EXCLUDED(mu_);
  // Runs the job now, on this thread; its slot need not have been begun. False,
  // and nothing has happened, if the lane is not at rest.
  bool TryRun(const Job& job) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  static constexpr size_t kQueue = 1024;

  Lane(int index, std::unique_ptr<Arena> arena, std::shared_ptr<OneDnn> dnn,
       RunBoard& board, Clock& clock);

  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return stopping_ || (count_ > 0 && !busy_);
  }
  void Loop() ABSL_LOCKS_EXCLUDED(mu_);
  void Execute(const Job& job);

  RunBoard& board_;
  Clock& clock_;
  const std::unique_ptr<Arena> arena_;
  const std::shared_ptr<OneDnn> dnn_;

  absl::Mutex mu_;
  // Signalled when HasWork may have become true. Not a Condition: each unlock
  // of TryRun would look at it.
  absl::CondVar work_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  bool busy_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<Job> queue_ ABSL_GUARDED_BY(mu_);  // a ring
  size_t first_ ABSL_GUARDED_BY(mu_) = 0;
  size_t count_ ABSL_GUARDED_BY(mu_) = 0;

  Thread thread_;  // last: joined before what it uses is gone
};

}  // namespace reprise::cpu
