// What kernels know of the thread that they are.
#pragma once

#include <cstdint>

namespace reprise::kernels {

// Threads of a block where every thread works alone.
inline constexpr int kThreads = 256;

// The thread's number in a grid of one dimension.
__device__ inline int64_t ThreadIndex() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

}  // namespace reprise::kernels
