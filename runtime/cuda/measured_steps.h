// Steps of a loader that take device memory nobody asked for by name.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "runtime/cuda/context.h"
#include "runtime/device/load_steps.h"

namespace reprise::cuda {

// What the driver takes memory for by itself.
enum class MemoryUse { kCode, kGraphs };
inline constexpr int kMemoryUses = static_cast<int>(MemoryUse::kGraphs) + 1;

// Counts by how much the GPU's free memory shrank in each step. What other
// processes take in the same moment is counted along: there is no other way to
// know it.
//
// Lifecycle: `steps` outlives it. Threads: any.
class MeasuredSteps {
 public:
  explicit MeasuredSteps(LoadSteps& steps) : steps_(steps) {}

  LoadSteps& steps() { return steps_; }

  // As LoadSteps::Run.
  absl::Status Run(const CurrentContext& current, LoadStep step, MemoryUse use,
                   absl::FunctionRef<absl::Status()> work);
  // Does `work`, which gives memory back, at once, on the worker's thread or
  // after it, and counts it as a step kFree.
  void Free(const CurrentContext& current, MemoryUse use,
            absl::FunctionRef<void()> work);

  // Bytes now; never negative.
  int64_t bytes(MemoryUse use) const;

 private:
  void Add(MemoryUse use, int64_t bytes);

  LoadSteps& steps_;
  std::array<std::atomic<int64_t>, kMemoryUses> bytes_ = {};
};

}  // namespace reprise::cuda
