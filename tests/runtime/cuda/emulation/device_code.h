// Included before a file of kernels that is compiled as C++: what device code
// takes for granted. See emulator.h.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstring>

#undef __global__
#undef __device__
#undef __shared__
#undef __launch_bounds__
#define __global__
#define __device__
#define __shared__ static  // one block runs at a time
#define __launch_bounds__(threads)

namespace reprise::emulation {

struct Index {
  unsigned x = 0;
  unsigned y = 0;
  unsigned z = 0;
};
struct Thread {
  Index grid;
  Index block;
  Index block_index;
  Index thread_index;
};
// The thread that runs now.
extern Thread current;

// Waits for the other threads of the block.
void Barrier();
// The value that the thread `lane ^ mask` of the warp gives to its call.
void Exchange(const void* mine, void* theirs, unsigned size, int mask);

}  // namespace reprise::emulation

#define gridDim ::reprise::emulation::current.grid
#define blockDim ::reprise::emulation::current.block
#define blockIdx ::reprise::emulation::current.block_index
#define threadIdx ::reprise::emulation::current.thread_index

inline void __syncthreads() { reprise::emulation::Barrier(); }

template <typename T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  T other{};
  reprise::emulation::Exchange(&value, &other, sizeof(T), mask);
  return other;
}
