#include "runtime/cuda/measured_steps.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/cuda/memory.h"

namespace reprise::cuda {
namespace {

// 0: the driver does not say, which the next call that matters will show.
int64_t FreeBytes(const CurrentContext& current) {
  const absl::StatusOr<MemoryInfo> info = DeviceMemoryInfo(current);
  return info.ok() ? info->free : 0;
}

}  // namespace

absl::Status MeasuredSteps::Run(const CurrentContext& current, LoadStep step,
                                MemoryUse use,
                                absl::FunctionRef<absl::Status()> work) {
  return steps_.Run(step, [&] {
    const int64_t before = FreeBytes(current);
    absl::Status status = work();
    if (status.ok()) Add(use, before - FreeBytes(current));
    return status;
  });
}

void MeasuredSteps::Free(const CurrentContext& current, MemoryUse use,
                         absl::FunctionRef<void()> work) {
  const absl::Time begun = steps_.clock().Now();
  const int64_t before = FreeBytes(current);
  work();
  Add(use, before - FreeBytes(current));
  steps_.Count(LoadStep::kFree, steps_.clock().Now() - begun);
}

int64_t MeasuredSteps::bytes(MemoryUse use) const {
  return std::max<int64_t>(
      0, bytes_[static_cast<size_t>(use)].load(std::memory_order_relaxed));
}

void MeasuredSteps::Add(MemoryUse use, int64_t bytes) {
  bytes_[static_cast<size_t>(use)].fetch_add(bytes, std::memory_order_relaxed);
}

}  // namespace reprise::cuda
