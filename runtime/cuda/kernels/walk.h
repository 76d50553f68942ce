// Where a thread of a walk is.
#pragma once

#include "runtime/cuda/kernels/elements.h"
#include "runtime/cuda/kernels/params.h"

namespace reprise::kernels {

// Offsets of the operands, in elements.
template <int kOperands>
struct Offsets {
  int64_t at[kOperands];
};

template <int kOperands, typename Index>
REPRISE_BOTH Offsets<kOperands> WalkIn(const Walk& walk, Index step) {
  Offsets<kOperands> offsets;
  for (int k = 0; k < kOperands; ++k) offsets.at[k] = 0;
  for (int axis = walk.axes - 1; axis >= 0; --axis) {
    Index index = step;
    if (axis > 0) {
      const Index dim = static_cast<Index>(walk.dims[axis]);
      step /= dim;
      index -= step * dim;
    }
    for (int k = 0; k < kOperands; ++k) {
      offsets.at[k] += static_cast<int64_t>(
          index * static_cast<Index>(walk.strides[k][axis]));
    }
  }
  return offsets;
}

// The offsets of step `step`. Divisions of 32 bits are several times faster.
template <int kOperands>
REPRISE_BOTH Offsets<kOperands> WalkTo(const Walk& walk, int64_t step) {
  if (walk.narrow != 0) {
    return WalkIn<kOperands>(walk, static_cast<uint32_t>(step));
  }
  return WalkIn<kOperands>(walk, static_cast<uint64_t>(step));
}

}  // namespace reprise::kernels
