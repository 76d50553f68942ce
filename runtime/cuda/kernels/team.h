// Teams: the threads that share one row of work. A team is the threads of one
// threadIdx.y; it has blockDim.x threads, a multiple of 32, and a block of more
// than one team has teams of 32.
#pragma once

#include "runtime/cuda/kernels/elements.h"

namespace reprise::kernels {

inline constexpr int kMaxTeam = 256;
inline constexpr int kWarp = 32;

// The row of this thread's team in a grid of one dimension.
__device__ inline int64_t TeamIndex() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
}

// Fn::Apply over the values of all threads of the team; every thread of it
// calls, and gets the same answer.
template <typename Fn, typename T>
__device__ T TeamFold(T value) {
  for (int lane = kWarp / 2; lane > 0; lane /= 2) {
    value = Fn::Apply(value, __shfl_xor_sync(0xffffffffu, value, lane));
  }
  if (blockDim.x == kWarp) return value;
  __shared__ T warps[kMaxTeam / kWarp];
  __syncthreads();  // whoever still reads of an earlier fold
  if (threadIdx.x % kWarp == 0) warps[threadIdx.x / kWarp] = value;
  __syncthreads();
  T all = warps[0];
  for (unsigned i = 1; i < blockDim.x / kWarp; ++i) {
    all = Fn::Apply(all, warps[i]);
  }
  return all;
}

}  // namespace reprise::kernels
