#include "runtime/cpu/cpu_executable.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/prepare/quantile.h"

namespace reprise::cpu {

CpuExecutable::CpuExecutable(const CpuShared& shared, Signature signature,
                             Ladder ladder,
                             std::vector<std::unique_ptr<Runner>> runners,
                             SlotLayout layout, CpuHolds holds)
    : shared_(shared),
      holds_(std::move(holds)),
      signature_(std::move(signature)),
      runners_(std::move(runners)),
      layout_(std::move(layout)),
      ladder_(std::move(ladder)) {
  for (const auto& runner : runners_) {
    arena_bytes_ = std::max(arena_bytes_, runner->program().plan.arena_bytes);
  }
}

SlotLease CpuExecutable::AcquireSlot() {
  return SlotLease(shared_.slots.Acquire(layout_));
}

int CpuExecutable::free_slots() const { return shared_.slots.free(); }

absl::Status CpuExecutable::Submit(Slot& slot, int rows) {
  const int rung = rows < 1 ? -1 : RungFor(ladder_, rows);
  if (rung < 0) {
    return absl::OutOfRangeError(absl::StrCat("no rung has room for ", rows,
                                              " rows; the largest has ",
                                              ladder_.back().rows));
  }
  auto& host_slot = static_cast<HostSlot&>(slot);
  host_slot.rung = rung;
  Job job{runners_[rung].get(), &host_slot, rows, ladder_[rung].rows};
  if (IsFast(rung) && shared_.lane.TryRun(job)) return absl::OkStatus();
  shared_.board.Begin(host_slot);
  return shared_.lane.Submit(job);
}

bool CpuExecutable::IsFast(int rung) const {
  const absl::Duration p50 = ladder_[rung].p50;
  return p50 > absl::ZeroDuration() && p50 < shared_.inline_below &&
         runners_[rung]->program().threads == 1;
}

bool CpuExecutable::RunsInline(int rows) const {
  const int rung = rows < 1 ? -1 : RungFor(ladder_, rows);
  return rung >= 0 && IsFast(rung);
}

absl::StatusOr<RunTimes> CpuExecutable::Wait(Slot& slot, absl::Time deadline) {
  auto& host_slot = static_cast<HostSlot&>(slot);
  REPRISE_ASSIGN_OR_RETURN(const RunTimes times,
                           shared_.board.Wait(host_slot, deadline));
  UpdateRung(ladder_[host_slot.rung], times.graph);
  return times;
}

}  // namespace reprise::cpu
