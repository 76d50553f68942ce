// Where, and Clip.
#include "runtime/cuda/kernels/functions.h"
#include "runtime/cuda/kernels/launch.h"
#include "runtime/cuda/kernels/walk.h"

namespace reprise::kernels {
namespace {

template <typename T>
__device__ void Where(const Bool* condition, const T* yes, const T* no, T* y,
                      const Walk& walk) {
  const int64_t step = ThreadIndex();
  if (step >= walk.count) return;
  const Offsets<3> offsets = WalkTo<3>(walk, step);
  condition += offsets.at[0];
  yes += offsets.at[1];
  no += offsets.at[2];
  const int64_t first = step * walk.pack;
  for (int i = 0; i < walk.pack && first + i < walk.elements; ++i) {
    y[first + i] = condition[i * walk.step[0]].byte != 0 ? yes[i * walk.step[1]]
                                                         : no[i * walk.step[2]];
  }
}

// A bound of T's kind.
template <typename T>
__device__ Compute<T> Bound(const T* pointer, double number, int64_t integer) {
  if (pointer != nullptr) return Load(*pointer);
  if constexpr (kIsFloating<Compute<T>>) {
    return static_cast<Compute<T>>(number);
  } else {
    return static_cast<Compute<T>>(integer);
  }
}

template <typename T>
__device__ void Clip(const T* x, const T* low, const T* high, T* y,
                     const ClipParams& params) {
  constexpr int kPack = kPackOf<T>;
  const int64_t first = ThreadIndex() * kPack;
  if (first >= params.elements) return;
  const bool has_low = params.has_low != 0;
  const bool has_high = params.has_high != 0;
  const Compute<T> from = Bound(low, params.low, params.low_int);
  const Compute<T> to = Bound(high, params.high, params.high_int);
  const auto apply = [&](const T& element) {
    return Convert<T>(Clipped(Load(element), has_low, from, has_high, to));
  };
  if (first + kPack <= params.elements) {
    Pack<T, kPack> pack = LoadPack<kPack>(x + first, 1);
    for (int i = 0; i < kPack; ++i) pack.at[i] = apply(pack.at[i]);
    StorePack(pack, y + first);
    return;
  }
  for (int64_t i = first; i < params.elements; ++i) y[i] = apply(x[i]);
}

}  // namespace
}  // namespace reprise::kernels

using namespace reprise::kernels;

// y[i] = condition[...] ? yes[...] : no[...], broadcast along a walk, elements
// by their bytes. A thread takes a step. Reference: runtime/cpu/ops/select.cc.
#define REPRISE_WHERE(suffix, T)                                               \
  extern "C" __global__ void __launch_bounds__(kThreads)                       \
      reprise_where_##suffix(const Bool* condition, const T* yes, const T* no, \
                             T* y, Walk walk) {                                \
    Where(condition, yes, no, y, walk);                                        \
  }
REPRISE_WHERE(b1, uint8_t)
REPRISE_WHERE(b2, uint16_t)
REPRISE_WHERE(b4, uint32_t)
REPRISE_WHERE(b8, uint64_t)

// y[i] = x[i] raised to the low bound, then lowered to the high one. A thread
// takes a pack. Reference: runtime/cpu/ops/unary.cc.
#define REPRISE_CLIP(suffix, T)                                            \
  extern "C" __global__ void __launch_bounds__(kThreads)                   \
      reprise_clip_##suffix(const T* x, const T* low, const T* high, T* y, \
                            ClipParams params) {                           \
    Clip(x, low, high, y, params);                                         \
  }
REPRISE_NUMBERS(REPRISE_CLIP)
