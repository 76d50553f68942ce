// Slots' memory from the heap.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "runtime/prepare/slot_memory.h"

namespace reprise::cpu {

// A SlotAllocator. What is trimmed is given back to the system in whole pages.
absl::StatusOr<std::unique_ptr<SlotMemory>> AllocateOnHeap(size_t bytes);

}  // namespace reprise::cpu
