// Chains of element-wise functions that were known when the program was built:
// what a chain's kernel is held against that is written at load. Those of
// chain_model.h.
#include "runtime/cuda/kernels/functions.h"
#include "runtime/cuda/kernels/launch.h"
#include "runtime/cuda/kernels/params.h"

namespace reprise::kernels {
namespace {

template <int kLinks>
__device__ float Apply(float x) {
  if (kLinks > 0) x = Mul::Apply(x, 1.5F);
  if (kLinks > 1) x = Add::Apply(x, 0.25F);
  if (kLinks > 2) x = Relu::Apply(x, 0.0F, 0.0F);
  if (kLinks > 3) x = Sigmoid::Apply(x, 0.0F, 0.0F);
  if (kLinks > 4) x = Tanh::Apply(x, 0.0F, 0.0F);
  if (kLinks > 5) x = Sub::Apply(x, 0.625F);
  if (kLinks > 6) x = Mul::Apply(x, -2.0F);
  if (kLinks > 7) x = Relu::Apply(x, 0.0F, 0.0F);
  return x;
}

// The elements are a multiple of the pack.
template <int kLinks, typename T>
__device__ void Chain(const T* x, T* y, const UnaryParams& params) {
  constexpr int kPack = kPackOf<T>;
  const int64_t first = ThreadIndex() * kPack;
  if (first >= params.elements) return;
  Pack<T, kPack> pack = LoadPack<kPack>(x + first, 1);
  for (int i = 0; i < kPack; ++i) {
    pack.at[i] = Convert<T>(Apply<kLinks>(Load(pack.at[i])));
  }
  StorePack(pack, y + first);
}

}  // namespace
}  // namespace reprise::kernels

using namespace reprise::kernels;

#define REPRISE_CHAIN(links, suffix, T)                                \
  extern "C" __global__ void __launch_bounds__(kThreads)               \
      chain_##links##_##suffix(const T* x, T* y, UnaryParams params) { \
    Chain<links>(x, y, params);                                        \
  }
#define REPRISE_CHAINS(links)      \
  REPRISE_CHAIN(links, f32, float) \
  REPRISE_CHAIN(links, f16, Half)
REPRISE_CHAINS(2)
REPRISE_CHAINS(4)
REPRISE_CHAINS(8)
