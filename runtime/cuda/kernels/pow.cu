// y[i] = a[...] ^ b[...], in the type of the base; 16-bit and 32-bit floats are
// computed in FP32, all others in FP64: reprise_pow_f32_i64 has a base of FP32.
// Grid and operands as in binary.cu. Reference: runtime/cpu/ops/binary.cc.
#include "runtime/cuda/kernels/elementwise.h"

using namespace reprise::kernels;

#define REPRISE_ENTRY(Fn, C, suffix, T, exponent, E)                  \
  extern "C" __global__ void __launch_bounds__(kThreads)              \
      reprise_pow_##suffix##_##exponent(const T* a, const E* b, T* y, \
                                        Walk walk) {                  \
    BinaryIn<Fn, C>(a, b, y, walk);                                   \
  }
#define REPRISE_EXPONENTS(Fn, C, suffix, T)       \
  REPRISE_ENTRY(Fn, C, suffix, T, f32, float)     \
  REPRISE_ENTRY(Fn, C, suffix, T, f16, Half)      \
  REPRISE_ENTRY(Fn, C, suffix, T, bf16, BFloat16) \
  REPRISE_ENTRY(Fn, C, suffix, T, f64, double)    \
  REPRISE_ENTRY(Fn, C, suffix, T, i32, int32_t)   \
  REPRISE_ENTRY(Fn, C, suffix, T, i64, int64_t)
REPRISE_EXPONENTS(Power, float, f32, float)
REPRISE_EXPONENTS(Power, float, f16, Half)
REPRISE_EXPONENTS(Power, float, bf16, BFloat16)
REPRISE_EXPONENTS(Power, double, f64, double)
REPRISE_EXPONENTS(WholePower, double, i32, int32_t)
REPRISE_EXPONENTS(WholePower, double, i64, int64_t)
