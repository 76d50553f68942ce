// y[i] = f(a[...], b[...]), both broadcast along a walk, one kernel for each
// function and type: reprise_add_f32. A thread takes a step of the walk; any
// grid that covers them. y may lie where an operand of the same dims lies.
// Reference: runtime/cpu/ops/binary.cc.
#include "runtime/cuda/kernels/elementwise.h"

using namespace reprise::kernels;

#define REPRISE_ENTRY(name, Fn, suffix, T)                                 \
  extern "C" __global__ void __launch_bounds__(kThreads)                   \
      reprise_##name##_##suffix(const T* a, const T* b, T* y, Walk walk) { \
    Binary<Fn>(a, b, y, walk);                                             \
  }

#define REPRISE_NUMBER_ENTRIES(suffix, T) \
  REPRISE_ENTRY(add, Add, suffix, T)      \
  REPRISE_ENTRY(sub, Sub, suffix, T)      \
  REPRISE_ENTRY(mul, Mul, suffix, T)      \
  REPRISE_ENTRY(div, Div, suffix, T)      \
  REPRISE_ENTRY(max, Max, suffix, T)      \
  REPRISE_ENTRY(min, Min, suffix, T)      \
  REPRISE_ENTRY(prelu, PRelu, suffix, T)  \
  REPRISE_ENTRY(fmod, CMod, suffix, T)
REPRISE_NUMBERS(REPRISE_NUMBER_ENTRIES)

#define REPRISE_INTEGER_ENTRIES(suffix, T) \
  REPRISE_ENTRY(mod, FloorMod, suffix, T)
REPRISE_INTEGERS(REPRISE_INTEGER_ENTRIES)
