// Where batches of one lane run: its streams, its arena, and two banks of
// device buffers for inputs and outputs.
#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cuda/arena.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/graph_stamps.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/module.h"
#include "runtime/cuda/run_record.h"
#include "runtime/prepare/slot_layout.h"

namespace reprise::cuda {

// While a batch runs out of one bank, the next one's inputs are copied into the
// other. Every rung is captured once for each.
inline constexpr int kBanks = 2;

// Lifecycle: the context outlives it; it outlives every executable of the lane.
// Threads: NextBank and TakeBank on that of whoever has the device; the rest is
// constant, and the arenas are
// safe by themselves.
class Lane {
 public:
  // Sets aside `reserve_bytes` of addresses for the arena, and for each bank.
  // `modules` has the library's kernels and outlives the lane.
  static absl::StatusOr<std::unique_ptr<Lane>> Create(
      const CurrentContext& current, Modules& modules, int64_t reserve_bytes);

  CUstream compute() const { return compute_.get(); }
  CUstream copy_in() const { return copy_in_.get(); }
  CUstream copy_out() const { return copy_out_.get(); }

  Arena& arena() { return *arena_; }
  Arena& bank(int index) { return *banks_[static_cast<size_t>(index)]; }

  // Of all graphs that are replayed on it.
  GraphStamps& stamps() { return *stamps_; }

  // The bank of the next batch: they take turns.
  int NextBank() { return turn_ = (turn_ + 1) % kBanks; }
  // Notes that `run` has bank `index` from now on, and returns whose it was:
  // null if nobody's.
  RunRecord* TakeBank(int index, RunRecord* run) {
    return std::exchange(users_[static_cast<size_t>(index)], run);
  }

 private:
  Lane() = default;

  std::unique_ptr<Arena> arena_;
  std::array<std::unique_ptr<Arena>, kBanks> banks_;
  std::unique_ptr<GraphStamps> stamps_;
  UniqueStream compute_;
  UniqueStream copy_in_;
  UniqueStream copy_out_;
  int turn_ = 0;
  std::array<RunRecord*, kBanks> users_ = {};  // not owned
};

// The addresses of `tensors` in a block that begins at `base`.
std::vector<CUdeviceptr> AddressesIn(
    CUdeviceptr base, const std::vector<SlotLayout::Tensor>& tensors);

}  // namespace reprise::cuda
