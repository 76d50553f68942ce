// The host memory that slots are made of, as a device wants it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"

namespace reprise {

// One block, aligned to 64 bytes.
//
// Threads: one at a time. It may go on any thread: on that of whoever gives a
// slot back, or unloads a model.
class SlotMemory {
 public:
  virtual ~SlotMemory() = default;

  virtual std::byte* data() = 0;
  // How many it has from data() on.
  virtual size_t bytes() const = 0;
  // Gives back what lies beyond the first `bytes`, if that can be done without
  // an allocation; else it does nothing, and bytes() stays. Not slow: others
  // wait for the pool meanwhile.
  virtual void Trim(size_t bytes) = 0;
};

// A block of at least `bytes`, which may be 0. Called on loaders' threads, with
// no lock held. RESOURCE_EXHAUSTED if there is no such block.
using SlotAllocator =
    std::function<absl::StatusOr<std::unique_ptr<SlotMemory>>(size_t bytes)>;

}  // namespace reprise
