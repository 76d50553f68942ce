// The first and the last kernel of a captured graph: when it began and ended,
// by the GPU's own clock. One thread each.
#include "runtime/cuda/kernels/params.h"

using namespace reprise::kernels;

__device__ static unsigned long long Now() {
  unsigned long long nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  return nanoseconds;
}

extern "C" __global__ void reprise_stamp_begin(StampState* state) {
  state->begun = Now();
}

// `ring` has kStampRing entries of host memory.
extern "C" __global__ void reprise_stamp_end(StampState* state, Stamp* ring) {
  const Stamp stamp{state->replays, state->begun, Now()};
  ring[stamp.replay % kStampRing] = stamp;
  state->replays = stamp.replay + 1;
}
