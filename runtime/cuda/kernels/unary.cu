// y[i] = f(x[i]), one kernel for each function and type: reprise_exp_f32.
// A thread takes a pack of elements; any grid that covers them.
// Reference: runtime/cpu/ops/unary.cc.
#include "runtime/cuda/kernels/functions.h"
#include "runtime/cuda/kernels/launch.h"
#include "runtime/cuda/kernels/params.h"

namespace reprise::kernels {
namespace {

template <typename Fn, typename T>
__device__ void Unary(const T* x, T* y, const UnaryParams& params) {
  constexpr int kPack = kPackOf<T>;
  const int64_t first = ThreadIndex() * kPack;
  const Compute<T> a = static_cast<Compute<T>>(params.a);
  const Compute<T> b = static_cast<Compute<T>>(params.b);
  if (first + kPack <= params.elements) {
    Pack<T, kPack> pack = LoadPack<kPack>(x + first, 1);
    for (int i = 0; i < kPack; ++i) {
      pack.at[i] = Convert<T>(Fn::Apply(Load(pack.at[i]), a, b));
    }
    StorePack(pack, y + first);
    return;
  }
  for (int64_t i = first; i < params.elements; ++i) {
    y[i] = Convert<T>(Fn::Apply(Load(x[i]), a, b));
  }
}

// Whether an element is what Fn looks for; a and b: see IsInf.
struct IsNanTest {
  template <typename C>
  static __device__ bool Apply(C x, float, float) {
    return IsNan(x);
  }
};
// a and b: whether positive and negative infinities count.
struct IsInfTest {
  template <typename C>
  static __device__ bool Apply(C x, float a, float b) {
    const C infinity = static_cast<C>(INFINITY);
    return (x == infinity && a != 0) || (x == -infinity && b != 0);
  }
};

template <typename Fn, typename T>
__device__ void Test(const T* x, Bool* y, const UnaryParams& params) {
  constexpr int kPack = kPackOf<T>;
  const int64_t first = ThreadIndex() * kPack;
  for (int64_t i = first; i < first + kPack && i < params.elements; ++i) {
    const bool found = Fn::Apply(Load(x[i]), params.a, params.b);
    y[i] = Bool{static_cast<uint8_t>(found ? 1 : 0)};
  }
}

}  // namespace
}  // namespace reprise::kernels

using namespace reprise::kernels;

#define REPRISE_ENTRY(name, Fn, suffix, T)                              \
  extern "C" __global__ void __launch_bounds__(kThreads)                \
      reprise_##name##_##suffix(const T* x, T* y, UnaryParams params) { \
    Unary<Fn>(x, y, params);                                            \
  }
#define REPRISE_TEST(name, Fn, suffix, T)                                  \
  extern "C" __global__ void __launch_bounds__(kThreads)                   \
      reprise_##name##_##suffix(const T* x, Bool* y, UnaryParams params) { \
    Test<Fn>(x, y, params);                                                \
  }

#define REPRISE_FLOAT_ENTRIES(suffix, T)                     \
  REPRISE_ENTRY(exp, Exp, suffix, T)                         \
  REPRISE_ENTRY(log, Log, suffix, T)                         \
  REPRISE_ENTRY(sqrt, Sqrt, suffix, T)                       \
  REPRISE_ENTRY(reciprocal, Reciprocal, suffix, T)           \
  REPRISE_ENTRY(floor, Floor, suffix, T)                     \
  REPRISE_ENTRY(ceil, Ceil, suffix, T)                       \
  REPRISE_ENTRY(round, Round, suffix, T)                     \
  REPRISE_ENTRY(sin, Sin, suffix, T)                         \
  REPRISE_ENTRY(cos, Cos, suffix, T)                         \
  REPRISE_ENTRY(tan, Tan, suffix, T)                         \
  REPRISE_ENTRY(asin, Asin, suffix, T)                       \
  REPRISE_ENTRY(acos, Acos, suffix, T)                       \
  REPRISE_ENTRY(atan, Atan, suffix, T)                       \
  REPRISE_ENTRY(sinh, Sinh, suffix, T)                       \
  REPRISE_ENTRY(cosh, Cosh, suffix, T)                       \
  REPRISE_ENTRY(asinh, Asinh, suffix, T)                     \
  REPRISE_ENTRY(acosh, Acosh, suffix, T)                     \
  REPRISE_ENTRY(atanh, Atanh, suffix, T)                     \
  REPRISE_ENTRY(tanh, Tanh, suffix, T)                       \
  REPRISE_ENTRY(erf, Erf, suffix, T)                         \
  REPRISE_ENTRY(softplus, Softplus, suffix, T)               \
  REPRISE_ENTRY(sigmoid, Sigmoid, suffix, T)                 \
  REPRISE_ENTRY(softsign, Softsign, suffix, T)               \
  REPRISE_ENTRY(mish, Mish, suffix, T)                       \
  REPRISE_ENTRY(hardswish, HardSwish, suffix, T)             \
  REPRISE_ENTRY(leakyrelu, LeakyRelu, suffix, T)             \
  REPRISE_ENTRY(elu, Elu, suffix, T)                         \
  REPRISE_ENTRY(selu, Selu, suffix, T)                       \
  REPRISE_ENTRY(celu, Celu, suffix, T)                       \
  REPRISE_ENTRY(thresholdedrelu, ThresholdedRelu, suffix, T) \
  REPRISE_ENTRY(hardsigmoid, HardSigmoid, suffix, T)         \
  REPRISE_ENTRY(gelu, GeluErf, suffix, T)                    \
  REPRISE_ENTRY(gelutanh, GeluTanh, suffix, T)               \
  REPRISE_ENTRY(divide, Divide, suffix, T)                   \
  REPRISE_TEST(isnan, IsNanTest, suffix, T)                  \
  REPRISE_TEST(isinf, IsInfTest, suffix, T)
REPRISE_FLOATS(REPRISE_FLOAT_ENTRIES)

// Those that integers have too.
#define REPRISE_NUMBER_ENTRIES(suffix, T) \
  REPRISE_ENTRY(neg, Neg, suffix, T)      \
  REPRISE_ENTRY(relu, Relu, suffix, T)    \
  REPRISE_ENTRY(sign, Sign, suffix, T)    \
  REPRISE_ENTRY(abs, Abs, suffix, T)
REPRISE_NUMBERS(REPRISE_NUMBER_ENTRIES)
