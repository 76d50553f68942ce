// One variant of a model on a GPU: a captured graph for each rung and bank.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "runtime/cuda/captured_graph.h"
#include "runtime/cuda/lane.h"
#include "runtime/cuda/measured_steps.h"
#include "runtime/cuda/run_record.h"
#include "runtime/device/device_observer.h"
#include "runtime/device/executable.h"
#include "runtime/prepare/slot_layout.h"
#include "runtime/prepare/slot_pool.h"

namespace reprise::cuda {

// What executables share with their device; all of it outlives them.
struct CudaShared {
  const PrimaryContext& context;
  Lane& lane;
  SlotPool& slots;
  RunRecords& records;  // by the slots of the pool
  Attention& attention;
  MeasuredSteps& measured;
  Clock& clock;
  DeviceObserver* observer = nullptr;  // null: nobody counts
};

// Memory that is there for an executable, and given back with it.
struct CudaHolds {
  ArenaHold arena;
  std::array<ArenaHold, kBanks> banks;
  SlotHold slots;
};

// Of the arena: as Executable::arena_bytes and live_bytes.
struct ArenaNeed {
  int64_t bytes = 0;
  int64_t live = 0;
};

struct CudaRung {
  std::array<CapturedGraph, kBanks> graphs;
};

// Threads: as Executable. It goes on any thread, when none of its runs is left.
class CudaExecutable final : public Executable {
 public:
  // `rungs[i]` is rung i of `ladder`, captured over banks laid out as `layout`,
  // which is that of the last rung.
  CudaExecutable(const CudaShared& shared, Signature signature, Ladder ladder,
                 std::vector<CudaRung> rungs, SlotLayout layout, ArenaNeed need,
                 CudaHolds holds);
  ~CudaExecutable() override;

  const Signature& signature() const override { return signature_; }
  const Ladder& ladder() const override { return ladder_; }
  SlotLease AcquireSlot() override;
  int free_slots() const override { return shared_.slots.free(); }
  absl::Status Submit(Slot& slot, int rows) override;
  absl::StatusOr<RunTimes> Wait(Slot& slot, absl::Time deadline) override;
  int captured_graphs() const override {
    return static_cast<int>(rungs_.size()) * kBanks;
  }
  int64_t arena_bytes() const override { return need_.bytes; }
  int64_t live_bytes() const override { return need_.live; }

  // Leaves the rungs of the ascending indices `kept`, whose times `ladder` has.
  // Before it serves.
  void KeepRungs(const std::vector<size_t>& kept, Ladder ladder);

  // Runs rung `index` out of `slot`, which is of no pool, as it stands, and
  // waits for it: for trials, in a step of their own. `run` outlives the lane.
  absl::StatusOr<RunTimes> RunForLoader(HostSlot& slot, RunRecord& run,
                                        int index, RunKind kind);

 private:
  absl::Status Issue(HostSlot& slot, RunRecord& run, int rows, RunKind kind);
  // `rung`: the rows that there are with the padding.
  absl::Status CopyIn(const HostSlot& slot, CUdeviceptr bank, int rows,
                      int rung, CUstream stream) const;
  absl::Status Pad(CUdeviceptr rows_at, size_t row_bytes, int rows, int rung,
                   CUstream stream) const;
  absl::Status CopyOut(const HostSlot& slot, CUdeviceptr bank, int rows,
                       CUstream stream) const;
  absl::Status Record(const UniqueEvent& event, CUstream stream) const;
  absl::Status WaitFor(const UniqueEvent& event, CUstream stream) const;
  absl::Time LookAt(const RunRecord& run, absl::Time now) const;
  absl::StatusOr<RunTimes> Finish(RunRecord& run);

  const CudaShared shared_;
  const Driver& driver_;
  CudaHolds holds_;  // after the graphs that lie in it
  const Signature signature_;
  const SlotLayout layout_;
  const ArenaNeed need_;
  std::vector<CudaRung> rungs_;

  Ladder ladder_;  // its times move with every run
};

}  // namespace reprise::cuda
