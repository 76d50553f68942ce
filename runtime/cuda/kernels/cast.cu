// y[i] = x[i] in another type, one kernel for each pair: reprise_cast_f32_i64
// reads FP32. A thread takes four elements; any grid that covers them.
// Reference: runtime/cpu/ops/convert.cc.
#include "runtime/cuda/kernels/elements.h"
#include "runtime/cuda/kernels/launch.h"
#include "runtime/cuda/kernels/params.h"

namespace reprise::kernels {
namespace {

template <typename From, typename To>
__device__ void Cast(const From* x, To* y, const CastParams& params) {
  constexpr int kPack = 4;
  const int64_t first = ThreadIndex() * kPack;
  if (first + kPack <= params.elements) {
    const Pack<From, kPack> from = LoadPack<kPack>(x + first, 1);
    Pack<To, kPack> to;
    for (int i = 0; i < kPack; ++i) to.at[i] = Convert<To>(from.at[i]);
    StorePack(to, y + first);
    return;
  }
  for (int64_t i = first; i < params.elements; ++i) y[i] = Convert<To>(x[i]);
}

}  // namespace
}  // namespace reprise::kernels

using namespace reprise::kernels;

#define REPRISE_ENTRY(from, From, to, To)                                   \
  extern "C" __global__ void __launch_bounds__(kThreads)                    \
      reprise_cast_##from##_##to(const From* x, To* y, CastParams params) { \
    Cast(x, y, params);                                                     \
  }
#define REPRISE_FROM(from, From)            \
  REPRISE_ENTRY(from, From, f32, float)     \
  REPRISE_ENTRY(from, From, f16, Half)      \
  REPRISE_ENTRY(from, From, bf16, BFloat16) \
  REPRISE_ENTRY(from, From, f64, double)    \
  REPRISE_ENTRY(from, From, i32, int32_t)   \
  REPRISE_ENTRY(from, From, i64, int64_t)   \
  REPRISE_ENTRY(from, From, i8, int8_t)     \
  REPRISE_ENTRY(from, From, i16, int16_t)   \
  REPRISE_ENTRY(from, From, u8, uint8_t)    \
  REPRISE_ENTRY(from, From, u16, uint16_t)  \
  REPRISE_ENTRY(from, From, u32, uint32_t)  \
  REPRISE_ENTRY(from, From, u64, uint64_t)  \
  REPRISE_ENTRY(from, From, bool, Bool)
REPRISE_NUMBERS(REPRISE_FROM)
REPRISE_FROM(bool, Bool)
