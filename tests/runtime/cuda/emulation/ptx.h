// Runs the PTX that lowering writes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/cuda/program.h"

namespace reprise::emulation {

// Every thread of `launch` over the one kernel of `ptx`. Only the instructions
// that ptx_chain.cc writes: INVALID_ARGUMENT shows a line that is none of them,
// reads a register that nothing wrote, or writes one twice.
absl::Status RunPtx(absl::string_view ptx, const cuda::KernelLaunch& launch,
                    std::span<void* const> pointers,
                    const std::vector<std::byte>& params);

}  // namespace reprise::emulation
