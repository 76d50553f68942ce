// y[o, i, :] = x[o, index[i], :], an index counted from the end if negative;
// out of range it reads zeros. Elements by their bytes. A thread for each
// element of y. Reference: runtime/cpu/ops/gather.cc.
#include "runtime/cuda/kernels/elements.h"
#include "runtime/cuda/kernels/launch.h"
#include "runtime/cuda/kernels/params.h"

namespace reprise::kernels {
namespace {

template <typename T, typename I, typename Index>
__device__ void GatherAt(const T* x, const I* indices, T* y,
                         const GatherParams& params, Index i) {
  const Index inner = static_cast<Index>(params.inner);
  const Index count = static_cast<Index>(params.indices);
  const Index row = i / inner;
  const Index column = i - row * inner;
  const Index outer = row / count;
  int64_t chosen = indices[row - outer * count];
  if (chosen < 0) chosen += params.extent;
  T element{};
  if (chosen >= 0 && chosen < params.extent) {
    element = x[(static_cast<int64_t>(outer) * params.extent + chosen) *
                    params.inner +
                static_cast<int64_t>(column)];
  }
  y[i] = element;
}

template <typename T, typename I>
__device__ void Gather(const T* x, const I* indices, T* y,
                       const GatherParams& params) {
  const int64_t i = ThreadIndex();
  const int64_t total = params.outer * params.indices * params.inner;
  if (i >= total) return;
  if (total <= kLargest<int32_t>) {
    GatherAt(x, indices, y, params, static_cast<uint32_t>(i));
  } else {
    GatherAt(x, indices, y, params, static_cast<uint64_t>(i));
  }
}

}  // namespace
}  // namespace reprise::kernels

using namespace reprise::kernels;

#define REPRISE_ENTRY(suffix, T, index, I)                                  \
  extern "C" __global__ void __launch_bounds__(kThreads)                    \
      reprise_gather_##suffix##_##index(const T* x, const I* indices, T* y, \
                                        GatherParams params) {              \
    Gather(x, indices, y, params);                                          \
  }
#define REPRISE_INDICES(suffix, T)       \
  REPRISE_ENTRY(suffix, T, i32, int32_t) \
  REPRISE_ENTRY(suffix, T, i64, int64_t)
REPRISE_BYTES(REPRISE_INDICES)
