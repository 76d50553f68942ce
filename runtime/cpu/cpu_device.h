// The CPU as a Device: oneDNN primitives and plain loops.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "runtime/device/device.h"

namespace reprise::cpu {

struct CpuDeviceOptions {
  // Threads that one lane's execution may use; 0 means the number of cores
  // that this process may run on.
  int threads = 0;
  // Slots of the device's pool for each lane; at least 2.
  int slots_per_lane = 4;
  // A rung whose measured p50 is below this runs on the thread that submits
  // it: handing it to the lane's thread would cost more than it takes. Zero
  // hands over always.
  absl::Duration inline_below = absl::Microseconds(20);
  // A model of which one run takes longer than this is not loaded: batches of
  // other models would wait as long for the lane.
  absl::Duration longest_trial = absl::Minutes(1);
  // Address space set aside for the arena of each lane. Pages cost nothing
  // until a plan needs them.
  int64_t arena_reserve_bytes = int64_t{64} << 30;
};

// A device named "cpu". Precision is fp32, whatever is asked for; values of
// FP16 and BF16 tensors are widened, computed and rounded by each operator.
//
// Lifecycle: every LoadedModel, Executable and SlotLease goes before it.
// Threads: as Device; each lane has one execution thread.
//
// INVALID_ARGUMENT lists every fault of the options. `clock` must outlive the
// device.
absl::StatusOr<std::unique_ptr<Device>> MakeCpuDevice(
    const CpuDeviceOptions& options, Clock& clock);

// Of the oneDNN library in use: "2.6.3".
std::string OneDnnVersion();

}  // namespace reprise::cpu
