// The functions of the element-wise operators, on what elements are computed
// in. The answers are those of runtime/cpu/ops: unary.cc, binary.cc, logic.cc.
#pragma once

#include "runtime/cuda/kernels/elements.h"

namespace reprise::kernels {

// Integer arithmetic wraps around.
template <typename C>
using Wrapping =
    typename std::conditional<std::is_integral<C>::value, std::make_unsigned<C>,
                              std::common_type<C>>::type::type;

#define REPRISE_BINARY(Name, ...)           \
  struct Name {                             \
    template <typename C>                   \
    static REPRISE_BOTH C Apply(C a, C b) { \
      __VA_ARGS__                           \
    }                                       \
  };
#define REPRISE_WRAPPING(Name, op)                                   \
  REPRISE_BINARY(Name, using W = Wrapping<C>; return static_cast<C>( \
                     static_cast<W>(a) op static_cast<W>(b));)

REPRISE_WRAPPING(Add, +)
REPRISE_WRAPPING(Sub, -)
REPRISE_WRAPPING(Mul, *)

// Whether an integer division has no answer to give.
template <typename C>
REPRISE_BOTH bool NoQuotient(C a, C b) {
  if (b == C{0}) return true;
  if constexpr (std::is_signed<C>::value) {
    return b == C(-1) && a == kLeast<C>;
  }
  return false;
}

// An integer divided by zero is zero.
struct Div {
  template <typename C>
  static REPRISE_BOTH C Apply(C a, C b) {
    if constexpr (std::is_integral<C>::value) {
      if (NoQuotient(a, b)) return b == C{0} ? C{0} : a;
    }
    return a / b;
  }
};

// NaN wins.
REPRISE_BINARY(Max, return b > a || IsNan(b) ? b : a;)
REPRISE_BINARY(Min, return b < a || IsNan(b) ? b : a;)
REPRISE_BINARY(PRelu, return IsNegative(a) ? Mul::Apply(a, b) : a;)

// The sign of the divisor.
struct FloorMod {
  template <typename C>
  static REPRISE_BOTH C Apply(C a, C b) {
    if (NoQuotient(a, b)) return C{0};
    const C rest = a % b;
    return rest != C{0} && (IsNegative(rest) != IsNegative(b)) ? rest + b
                                                               : rest;
  }
};
// The sign of the dividend.
struct CMod {
  template <typename C>
  static REPRISE_BOTH C Apply(C a, C b) {
    if constexpr (std::is_integral<C>::value) {
      return NoQuotient(a, b) ? C{0} : a % b;
    } else {
      return std::fmod(a, b);
    }
  }
};

REPRISE_BINARY(Power, return b == C{2} ? a * a : std::pow(a, b);)
// For results that are cut off to integers: the device's pow may be two units
// in the last place below the exact answer, 3 ^ 1 = 2.999...
struct WholePower {
  static REPRISE_BOTH double Apply(double a, double b) {
    const double power = Power::Apply(a, b);
    const double whole = std::nearbyint(power);
    const double close = 1e-15 * std::fabs(whole);
    return std::fabs(power - whole) <= close ? whole : power;
  }
};

#define REPRISE_COMPARE(Name, op)              \
  struct Name {                                \
    template <typename C>                      \
    static REPRISE_BOTH bool Apply(C a, C b) { \
      return a op b;                           \
    }                                          \
  };
REPRISE_COMPARE(Equal, ==)
REPRISE_COMPARE(Greater, >)
REPRISE_COMPARE(GreaterOrEqual, >=)
REPRISE_COMPARE(Less, <)
REPRISE_COMPARE(LessOrEqual, <=)
// Of BOOL, which is computed in 0 and 1.
REPRISE_COMPARE(And, &)
REPRISE_COMPARE(Or, |)
REPRISE_COMPARE(Xor, ^)

// Functions of one number, with the operator's alpha and beta as a and b.
#define REPRISE_UNARY(Name, ...)                           \
  struct Name {                                            \
    template <typename C>                                  \
    static REPRISE_BOTH C Apply(C x, [[maybe_unused]] C a, \
                                [[maybe_unused]] C b) {    \
      __VA_ARGS__                                          \
    }                                                      \
  };

// ln(1 + e^x) without overflow.
template <typename C>
REPRISE_BOTH C SoftplusOf(C x) {
  return (x < C{0} ? C{0} : x) + std::log1p(std::exp(-std::fabs(x)));
}
// Unlike fmin and fmax, NaN stays.
template <typename C>
REPRISE_BOTH C Gate(C x, C alpha, C beta) {
  const C line = alpha * x + beta;
  const C low = C{1} < line ? C{1} : line;
  return low < C{0} ? C{0} : low;
}

REPRISE_UNARY(Exp, return std::exp(x);)
REPRISE_UNARY(Log, return std::log(x);)
REPRISE_UNARY(Sqrt, return std::sqrt(x);)
REPRISE_UNARY(Reciprocal, return C{1} / x;)
REPRISE_UNARY(Floor, return std::floor(x);)
REPRISE_UNARY(Ceil, return std::ceil(x);)
REPRISE_UNARY(Round, return std::nearbyint(x);)
REPRISE_UNARY(Sin, return std::sin(x);)
REPRISE_UNARY(Cos, return std::cos(x);)
REPRISE_UNARY(Tan, return std::tan(x);)
REPRISE_UNARY(Asin, return std::asin(x);)
REPRISE_UNARY(Acos, return std::acos(x);)
REPRISE_UNARY(Atan, return std::atan(x);)
REPRISE_UNARY(Sinh, return std::sinh(x);)
REPRISE_UNARY(Cosh, return std::cosh(x);)
REPRISE_UNARY(Asinh, return std::asinh(x);)
REPRISE_UNARY(Acosh, return std::acosh(x);)
REPRISE_UNARY(Atanh, return std::atanh(x);)
REPRISE_UNARY(Tanh, return std::tanh(x);)
REPRISE_UNARY(Erf, return std::erf(x);)
REPRISE_UNARY(Softplus, return SoftplusOf(x);)
REPRISE_UNARY(Sigmoid, return C{1} / (C{1} + std::exp(-x));)
REPRISE_UNARY(Softsign, return x / (C{1} + std::fabs(x));)
REPRISE_UNARY(Mish, return x * std::tanh(SoftplusOf(x));)
REPRISE_UNARY(HardSwish, return x * Gate(x, C(1) / C(6), C(0.5));)
REPRISE_UNARY(Silu, return x / (C{1} + std::exp(-x));)
REPRISE_UNARY(LeakyRelu, return x < C{0} ? a * x : x;)
REPRISE_UNARY(Elu, return x < C{0} ? a * std::expm1(x) : x;)
REPRISE_UNARY(Selu, return b * (x <= C{0} ? a * std::expm1(x) : x);)
REPRISE_UNARY(Celu, const C low = a * std::expm1(x / a);
              return (C{0} < x ? x : C{0}) + (low < C{0} ? low : C{0});)
REPRISE_UNARY(ThresholdedRelu, return x > a ? x : C{0};)
REPRISE_UNARY(HardSigmoid, return Gate(x, a, b);)
REPRISE_UNARY(GeluErf, return C(0.5) * x *
                              (C{1} + std::erf(x * C(0.70710678118654752440)));)
REPRISE_UNARY(GeluTanh, const C inner = C(0.79788456080286535588) *
                                        (x + C(0.044715) * x * x * x);
              return C(0.5) * x * (C{1} + std::tanh(inner));)
REPRISE_UNARY(Divide, return x / a;)

// 0 - x, which wraps around for integers.
template <typename C>
REPRISE_BOTH C Negated(C x) {
  if constexpr (kIsFloating<C>) {
    return -x;
  } else {
    return Sub::Apply(C{0}, x);
  }
}
REPRISE_UNARY(Neg, return Negated(x);)
REPRISE_UNARY(Relu, return IsNegative(x) ? C{0} : x;)
struct Abs {
  template <typename C>
  static REPRISE_BOTH C Apply(C x, C, C) {
    if constexpr (kIsFloating<C>) {
      return std::fabs(x);
    } else {
      return IsNegative(x) ? Negated(x) : x;
    }
  }
};
struct Sign {
  template <typename C>
  static REPRISE_BOTH C Apply(C x, C, C) {
    if constexpr (std::is_unsigned<C>::value) {
      return static_cast<C>(x != C{0} ? 1 : 0);
    } else {
      return x > C{0} ? C{1} : (x < C{0} ? C(-1) : x);  // NaN stays
    }
  }
};

// A low above the high gives the high.
template <typename C>
REPRISE_BOTH C Clipped(C x, bool has_low, C low, bool has_high, C high) {
  const C raised = has_low && x < low ? low : x;
  return has_high && high < raised ? high : raised;
}

}  // namespace reprise::kernels
