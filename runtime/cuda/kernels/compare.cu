// y[i] = a[...] < b[...] and its like, into BOOL, and the logic of BOOL.
// Grid and operands as in binary.cu. Reference: runtime/cpu/ops/logic.cc.
#include "runtime/cuda/kernels/elementwise.h"

using namespace reprise::kernels;

#define REPRISE_ENTRY(name, Fn, suffix, T)                                    \
  extern "C" __global__ void __launch_bounds__(kThreads)                      \
      reprise_##name##_##suffix(const T* a, const T* b, Bool* y, Walk walk) { \
    Binary<Fn>(a, b, y, walk);                                                \
  }

#define REPRISE_COMPARISONS(suffix, T)                     \
  REPRISE_ENTRY(equal, Equal, suffix, T)                   \
  REPRISE_ENTRY(greater, Greater, suffix, T)               \
  REPRISE_ENTRY(greaterorequal, GreaterOrEqual, suffix, T) \
  REPRISE_ENTRY(less, Less, suffix, T)                     \
  REPRISE_ENTRY(lessorequal, LessOrEqual, suffix, T)
REPRISE_NUMBERS(REPRISE_COMPARISONS)
REPRISE_ENTRY(equal, Equal, bool, Bool)

REPRISE_ENTRY(and, And, bool, Bool)
REPRISE_ENTRY(or, Or, bool, Bool)
REPRISE_ENTRY(xor, Xor, bool, Bool)

// y[i] = !x[i]; a thread takes four elements.
extern "C" __global__ void __launch_bounds__(kThreads)
    reprise_not_bool(const Bool* x, Bool* y, UnaryParams params) {
  const int64_t first = ThreadIndex() * kPackOf<Bool>;
  for (int64_t i = first; i < first + kPackOf<Bool> && i < params.elements;
       ++i) {
    y[i] = Bool{static_cast<uint8_t>(x[i].byte == 0 ? 1 : 0)};
  }
}
