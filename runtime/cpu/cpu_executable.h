// One variant of a model on the CPU: a runner for each rung.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/cpu/lane.h"
#include "runtime/cpu/program.h"
#include "runtime/device/executable.h"
#include "runtime/prepare/slot_layout.h"
#include "runtime/prepare/slot_pool.h"

namespace reprise::cpu {

// What executables share with their device; all of it outlives them.
struct CpuShared {
  Lane& lane;
  RunBoard& board;
  SlotPool& slots;
  absl::Duration inline_below;
};

// Memory that is there for an executable, and given back with it.
struct CpuHolds {
  ArenaHold arena;
  SlotHold slots;
};

// Threads: as Executable.
class CpuExecutable final : public Executable {
 public:
  // `runners[i]` runs rung i of `ladder` in slots laid out for the last rung.
  CpuExecutable(const CpuShared& shared, Signature signature, Ladder ladder,
                std::vector<std::unique_ptr<Runner>> runners, SlotLayout layout,
                CpuHolds holds);

  const Signature& signature() const override { return signature_; }
  const Ladder& ladder() const override { return ladder_; }
  SlotLease AcquireSlot() override;
  int free_slots() const override;

  // A rung that is known to take less than CpuShared::inline_below, and uses
  // one thread, runs before this returns, unless the lane is busy.
  absl::Status Submit(Slot& slot, int rows) override;
  bool RunsInline(int rows) const override;
  absl::StatusOr<RunTimes> Wait(Slot& slot, absl::Time deadline) override;
  int64_t arena_bytes() const override { return arena_bytes_; }

 private:
  bool IsFast(int rung) const;

  const CpuShared shared_;
  const CpuHolds holds_;
  const Signature signature_;
  const std::vector<std::unique_ptr<Runner>> runners_;
  const SlotLayout layout_;
  int64_t arena_bytes_ = 0;

  Ladder ladder_;  // its times move with every run
};

}  // namespace reprise::cpu
