// One batch from its forming until the last share of its outputs is dropped.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/batch/assemble.h"
#include "runtime/batch/batch_output.h"
#include "runtime/batch/policy.h"
#include "runtime/batch/waiting.h"
#include "runtime/device/executable.h"

namespace reprise {

struct Variant;

// kGathering -> kStaged -> kSubmitted -> kDone, or straight to kSubmitted; a
// batch that has lost all of its requests goes to kDone without being
// submitted. Until kSubmitted its requests may still leave.
enum class BatchState { kGathering, kStaged, kSubmitted, kDone };

// Pooled by the worker; the slot's lease and the executable are held until the
// last share goes.
//
// Threads: the worker's, but for the shares (any thread) and for `members` and
// `state`, which are guarded by the worker's mutex until the batch is done.
class BatchRun final : public BatchResult {
 public:
  struct Member {
    Waiting waiting;
    int first_row = 0;
    bool live = true;       // false: answered, its rows are padding
    absl::Status leaves;    // not OK: to be answered so once it is gathered
    absl::Status gathered;  // the worker's alone: what Gather said of it
  };

  // Called when the last share has gone, on the thread that dropped it.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void Recycle(BatchRun& run) = 0;
  };

  explicit BatchRun(Owner& owner) : owner_(owner) {}
  ~BatchRun() override = default;

  // Begins a new life with one share, the worker's own.
  void Begin(Variant& of, Executable& on, SlotLease lease, int on_lane);
  // Appends a request behind the rows of those before it.
  void Join(const Waiting& waiting);

  int live_members() const;
  // Rows up to the end of the last live request.
  int live_rows() const;
  // Notes the rows of those that have left, for PadHoles.
  void NoteHoles();
  // Replaces the rows that were noted by copies of a live one. Looks at no
  // member: they may be answered meanwhile.
  void PadHoles();

  const Signature& signature() const override {
    return executable->signature();
  }
  std::span<const std::byte> output(int k) const override {
    return slot->output(k);
  }
  bool may_hold_slot() const override { return may_hold; }

  void Ref() override { shares_.fetch_add(1, std::memory_order_relaxed); }
  void Unref() override;

  Variant* variant = nullptr;
  Executable* executable = nullptr;
  SlotLease slot;
  std::vector<InputBuffer> buffers;
  std::vector<Member> members;
  BatchState state = BatchState::kDone;
  int lane = 0;
  int rung = 0;  // index into the variant's ladder
  int rows = 0;
  int counted_rows = 0;  // as the statistics have them; 0: it did not run
  DispatchReason reason = DispatchReason::kFreeSlot;
  bool may_hold = false;           // as BatchResult::may_hold_slot
  bool may_block_briefly = false;  // as TaskResult has it
  absl::Status result;
  absl::Time picked;
  absl::Time gathered;
  absl::Time submitted;
  absl::Time started;  // predicted: when what was before it was done
  absl::Time computed;

 private:
  struct Hole {
    int first_row = 0;
    int rows = 0;
  };

  Owner& owner_;
  std::vector<Hole> holes_;
  int live_row_ = 0;  // what holes are filled with
  std::atomic<int> shares_{0};
};

}  // namespace reprise
