// Page-locked memory for slots.
#pragma once

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/memory.h"
#include "runtime/device/load_steps.h"
#include "runtime/prepare/slot_memory.h"

namespace reprise::cuda {

// Gives slots their memory, in steps of the loaders that ask for it. What is
// given back, on whatever thread, is freed when the next loader asks, or with
// this: freeing stops the driver for all.
//
// Lifecycle: the context outlives it; it outlives the slots.
// Threads: any.
class PinnedSlotMemory {
 public:
  PinnedSlotMemory(const PrimaryContext& context, LoadSteps& steps)
      : context_(context), steps_(steps) {}
  PinnedSlotMemory(const PinnedSlotMemory&) = delete;
  PinnedSlotMemory& operator=(const PinnedSlotMemory&) = delete;
  ~PinnedSlotMemory();

  // As SlotAllocator.
  absl::StatusOr<std::unique_ptr<SlotMemory>> Allocate(size_t bytes)
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  class Block;

  void Free() ABSL_LOCKS_EXCLUDED(mu_);

  const PrimaryContext& context_;
  LoadSteps& steps_;

  absl::Mutex mu_;
  std::vector<PinnedBuffer> given_back_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reprise::cuda
