// The CUDA device whole, without a GPU: over a driver and a cuBLASLt that are
// fakes, with the kernels' own sources run by the emulator.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/base/clock.h"
#include "runtime/device/device.h"

namespace reprise::emulation {

// One at a time: the fakes are. Programs that use it set ENABLE_EXPORTS. Runs
// are over when Submit returns, and take a microsecond a kernel by the device's
// clock.
absl::StatusOr<std::unique_ptr<Device>> MakeEmulatedDevice(Clock& clock);

}  // namespace reprise::emulation
