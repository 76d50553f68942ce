// Runs programs of the CUDA device without a GPU: the kernels' own sources,
// compiled as C++, and PTX that lowering wrote, thread by thread. It shows that
// kernels, geometry and parameters give the right answers; it shows nothing of
// races between blocks or of speed.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "runtime/cuda/program.h"
#include "runtime/cuda/weights.h"

namespace reprise::emulation {

// Every action of `program`, in order, over an arena that holds NaN at first.
// Addresses are one slot's tensors. Products are computed in FP64.
// NOT_FOUND names an entry that no kernel has; INVALID_ARGUMENT a launch whose
// arguments are not pointers and then one struct.
absl::Status Run(const cuda::Program& program, const cuda::CudaWeights& weights,
                 std::span<std::byte* const> inputs,
                 std::span<std::byte* const> outputs);

}  // namespace reprise::emulation
