// Arithmetic of two elements, as the element-wise operators and the reductions
// have it.
#pragma once

#include <type_traits>

#include "runtime/cpu/dispatch.h"

namespace reprise::cpu {

// Integer arithmetic wraps around. Narrow types would be promoted to int, which
// does not.
template <typename T>
using Wrapping = typename std::conditional_t<
    !std::is_integral_v<T>, std::type_identity<T>,
    std::conditional_t<(sizeof(T) < sizeof(unsigned)),
                       std::type_identity<unsigned>,
                       std::make_unsigned<T>>>::type;

struct AddFn {
  template <typename T>
  T operator()(T a, T b) const {
    using W = Wrapping<T>;
    return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
  }
};
struct SubFn {
  template <typename T>
  T operator()(T a, T b) const {
    using W = Wrapping<T>;
    return static_cast<T>(static_cast<W>(a) - static_cast<W>(b));
  }
};
struct MulFn {
  template <typename T>
  T operator()(T a, T b) const {
    using W = Wrapping<T>;
    return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
  }
};

// NaN wins, as in numpy.
struct MaxFn {
  template <typename T>
  T operator()(T a, T b) const {
    return b > a || IsNan(b) ? b : a;
  }
};
struct MinFn {
  template <typename T>
  T operator()(T a, T b) const {
    return b < a || IsNan(b) ? b : a;
  }
};

}  // namespace reprise::cpu
