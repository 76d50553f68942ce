// A variant of a model that is being prepared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/cuda/cuda_executable.h"
#include "runtime/cuda/lane.h"
#include "runtime/cuda/program.h"
#include "runtime/prepare/host_slot.h"
#include "runtime/prepare/rung_choice.h"
#include "runtime/prepare/slot_layout.h"
#include "runtime/tensor/ladder.h"
#include "runtime/tensor/signature.h"

namespace reprise::cuda {

// Filled one member after the other, in this order; they die in reverse.
struct VariantDraft {
  Lane* lane = nullptr;
  // Whether a rung that fails may be left out: not of a ladder that other lanes
  // have already.
  bool may_leave_out = false;
  Signature signature;
  Ladder ladder;
  SlotLayout layout;
  std::vector<Program> programs;  // one a rung, as in all that follow
  int64_t arena_bytes = 0;
  int64_t live_bytes = 0;
  CudaHolds holds;
  HostSlot slot;  // of the trials
  std::vector<CudaRung> rungs;
  // What the run that was not captured made of the samples, by output.
  std::vector<std::vector<std::vector<std::byte>>> expected;

  // Leaves the rungs of the ascending indices `kept`. Once they have gone to an
  // executable, `rungs` is empty and stays so.
  void KeepRungs(const std::vector<size_t>& kept) {
    KeepOnly(kept, ladder);
    KeepOnly(kept, programs);
    KeepOnly(kept, expected);
    if (!rungs.empty()) KeepOnly(kept, rungs);
  }
};

}  // namespace reprise::cuda
