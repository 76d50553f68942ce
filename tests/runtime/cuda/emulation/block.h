// The threads of the emulator's blocks.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "runtime/cuda/program.h"

namespace reprise::emulation {

// Runs every block of `launch`, one after the other, whose kernel is looked up
// among the program's own symbols. `params` are the bytes of its struct.
absl::Status RunKernel(const cuda::KernelLaunch& launch,
                       std::span<void* const> pointers,
                       const std::vector<std::byte>& params);

}  // namespace reprise::emulation
