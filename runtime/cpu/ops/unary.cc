// Element-wise functions of one tensor.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/ops/families.h"
#include "runtime/ops/elementwise.h"

namespace reprise::cpu {
namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kSqrtTwoOverPi = 0.79788456080286535588;

// y[i] = fn(x[i]), computed in ComputeType<T>.
template <typename T, typename Fn>
Kernel Map(int64_t n, Fn fn) {
  using C = ComputeType<T>;
  return {[n, fn](const KernelArgs& args) {
    const T* x = args.in<T>(0);
    T* y = args.out<T>(0);
    for (int64_t i = 0; i < n; ++i) {
      y[i] = static_cast<T>(fn(static_cast<C>(x[i])));
    }
  }};
}

// ln(1 + e^x) without overflow.
template <typename C>
C Softplus(C x) {
  return std::max(x, C{0}) + std::log1p(std::exp(-std::abs(x)));
}

template <typename C>
C Sigmoid(C x) {
  return C{1} / (C{1} + std::exp(-x));
}

template <typename C>
C HardSigmoid(C x, C alpha, C beta) {
  return std::max(C{0}, std::min(C{1}, alpha * x + beta));
}

// The functions without parameters; an empty kernel if `op` is none of them.
template <typename T>
Kernel SimpleFloat(absl::string_view op, int64_t n) {
  using C = ComputeType<T>;
  if (op == "Exp") return Map<T>(n, [](C x) { return std::exp(x); });
  if (op == "Log") return Map<T>(n, [](C x) { return std::log(x); });
  if (op == "Sqrt") return Map<T>(n, [](C x) { return std::sqrt(x); });
  if (op == "Reciprocal") return Map<T>(n, [](C x) { return C{1} / x; });
  if (op == "Floor") return Map<T>(n, [](C x) { return std::floor(x); });
  if (op == "Ceil") return Map<T>(n, [](C x) { return std::ceil(x); });
  if (op == "Round") return Map<T>(n, [](C x) { return std::nearbyint(x); });
  if (op == "Sin") return Map<T>(n, [](C x) { return std::sin(x); });
  if (op == "Cos") return Map<T>(n, [](C x) { return std::cos(x); });
  if (op == "Tan") return Map<T>(n, [](C x) { return std::tan(x); });
  if (op == "Asin") return Map<T>(n, [](C x) { return std::asin(x); });
  if (op == "Acos") return Map<T>(n, [](C x) { return std::acos(x); });
  if (op == "Atan") return Map<T>(n, [](C x) { return std::atan(x); });
  if (op == "Sinh") return Map<T>(n, [](C x) { return std::sinh(x); });
  if (op == "Cosh") return Map<T>(n, [](C x) { return std::cosh(x); });
  if (op == "Asinh") return Map<T>(n, [](C x) { return std::asinh(x); });
  if (op == "Acosh") return Map<T>(n, [](C x) { return std::acosh(x); });
  if (op == "Atanh") return Map<T>(n, [](C x) { return std::atanh(x); });
  if (op == "Tanh") return Map<T>(n, [](C x) { return std::tanh(x); });
  if (op == "Erf") return Map<T>(n, [](C x) { return std::erf(x); });
  if (op == "Sigmoid") return Map<T>(n, [](C x) { return Sigmoid(x); });
  if (op == "Softplus") return Map<T>(n, [](C x) { return Softplus(x); });
  if (op == "Softsign") {
    return Map<T>(n, [](C x) { return x / (C{1} + std::abs(x)); });
  }
  if (op == "Mish") {
    return Map<T>(n, [](C x) { return x * std::tanh(Softplus(x)); });
  }
  if (op == "HardSwish") {
    return Map<T>(n,
                  [](C x) { return x * HardSigmoid(x, C(1) / C(6), C(0.5)); });
  }
  return {};
}

template <typename T>
Kernel ParameterFloat(absl::string_view op, const ops::UnaryParams& params,
                      int64_t n) {
  using C = ComputeType<T>;
  const C alpha = static_cast<C>(params.alpha);
  const C beta = static_cast<C>(params.beta);
  if (op == "LeakyRelu") {
    return Map<T>(n, [alpha](C x) { return x < 0 ? alpha * x : x; });
  }
  if (op == "Elu") {
    return Map<T>(n,
                  [alpha](C x) { return x < 0 ? alpha * std::expm1(x) : x; });
  }
  if (op == "Selu") {
    return Map<T>(n, [alpha, beta](C x) {
      return beta * (x <= 0 ? alpha * std::expm1(x) : x);
    });
  }
  if (op == "Celu") {
    return Map<T>(n, [alpha](C x) {
      return std::max(C{0}, x) + std::min(C{0}, alpha * std::expm1(x / alpha));
    });
  }
  if (op == "ThresholdedRelu") {
    return Map<T>(n, [alpha](C x) { return x > alpha ? x : C{0}; });
  }
  if (op == "HardSigmoid") {
    return Map<T>(n,
                  [alpha, beta](C x) { return HardSigmoid(x, alpha, beta); });
  }
  return {};
}

template <typename T>
Kernel GeluKernel(bool tanh, int64_t n) {
  using C = ComputeType<T>;
  if (tanh) {
    return Map<T>(n, [](C x) {
      const C inner = C(kSqrtTwoOverPi) * (x + C(0.044715) * x * x * x);
      return C(0.5) * x * (C{1} + std::tanh(inner));
    });
  }
  return Map<T>(
      n, [](C x) { return C(0.5) * x * (C{1} + std::erf(x * C(kSqrtHalf))); });
}

// Those that integers have too; an empty kernel if `op` is none of them.
template <typename T>
Kernel SignedOrFloat(absl::string_view op, int64_t n) {
  using C = ComputeType<T>;
  if (op == "Abs") {
    return Map<T>(n, [](C x) {
      if constexpr (std::is_floating_point_v<C>) {
        return std::abs(x);
      } else if constexpr (std::is_signed_v<C>) {
        return x < 0
                   ? static_cast<C>(0 - static_cast<std::make_unsigned_t<C>>(x))
                   : x;
      } else {
        return x;
      }
    });
  }
  if (op == "Neg") {
    return Map<T>(n, [](C x) {
      if constexpr (std::is_floating_point_v<C>) {
        return -x;
      } else {
        return static_cast<C>(0 - static_cast<std::make_unsigned_t<C>>(x));
      }
    });
  }
  if (op == "Sign") {
    return Map<T>(n, [](C x) {
      if constexpr (std::is_unsigned_v<C>) {
        return static_cast<C>(x != 0);
      } else {
        return x > 0 ? C{1} : (x < 0 ? C(-1) : x);  // NaN stays
      }
    });
  }
  if (op == "Relu") {
    return Map<T>(n, [](C x) { return x < C{0} ? C{0} : x; });
  }
  return {};
}

absl::StatusOr<Kernel> OrNotRun(Kernel kernel, absl::string_view op) {
  if (kernel.run == nullptr) {
    return ops::NotRunHere(absl::StrCat("no kernel for ", op));
  }
  return kernel;
}

}  // namespace

absl::StatusOr<Kernel> MakeUnary(const KernelRequest& request) {
  const absl::string_view op = request.view.op();
  const DType dtype = request.view.dtype(0);
  REPRISE_ASSIGN_OR_RETURN(const int64_t n, NumElements(request.view.dims(0)));
  Kernel both;
  if (op == "Abs" || op == "Neg" || op == "Sign" || op == "Relu") {
    return VisitNumber(dtype, [&](auto tag) -> absl::StatusOr<Kernel> {
      return SignedOrFloat<typename decltype(tag)::type>(op, n);
    });
  }
  if (op == "Gelu") {
    REPRISE_ASSIGN_OR_RETURN(const bool tanh, ops::ReadGeluTanh(request.view));
    return VisitFloat(dtype, [&](auto tag) -> absl::StatusOr<Kernel> {
      return GeluKernel<typename decltype(tag)::type>(tanh, n);
    });
  }
  REPRISE_ASSIGN_OR_RETURN(const ops::UnaryParams params,
                           ops::ReadUnary(request.view));
  return VisitFloat(dtype, [&](auto tag) -> absl::StatusOr<Kernel> {
    using T = typename decltype(tag)::type;
    Kernel kernel = SimpleFloat<T>(op, n);
    if (kernel.run == nullptr) kernel = ParameterFloat<T>(op, params, n);
    return OrNotRun(std::move(kernel), op);
  });
}

absl::StatusOr<Kernel> MakeClip(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::ClipParams params,
                           ops::ReadClip(request.view));
  REPRISE_ASSIGN_OR_RETURN(const int64_t n, NumElements(request.view.dims(0)));
  return VisitNumber(request.view.dtype(0),
                     [&](auto tag) -> absl::StatusOr<Kernel> {
                       using T = typename decltype(tag)::type;
                       using C = ComputeType<T>;
                       C low = std::numeric_limits<C>::lowest();
                       C high = std::numeric_limits<C>::max();
                       if constexpr (std::is_floating_point_v<C>) {
                         low = static_cast<C>(params.low);
                         high = static_cast<C>(params.high);
                       } else {
                         if (params.has_low)
                           low = static_cast<C>(params.low_int);
                         if (params.has_high)
                           high = static_cast<C>(params.high_int);
                       }
                       // A low above the high gives the high, as in numpy.
                       return Map<T>(n, [low, high](C x) {
                         const C raised = x < low ? low : x;
                         return high < raised ? high : raised;
                       });
                     });
}

absl::StatusOr<Kernel> MakeFloatTest(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t n, NumElements(request.view.dims(0)));
  const bool nan = request.view.op() == "IsNaN";
  REPRISE_ASSIGN_OR_RETURN(const int64_t positive,
                           request.view.attributes().Int("detect_positive", 1));
  REPRISE_ASSIGN_OR_RETURN(const int64_t negative,
                           request.view.attributes().Int("detect_negative", 1));
  return VisitFloat(
      request.view.dtype(0), [&](auto tag) -> absl::StatusOr<Kernel> {
        using T = typename decltype(tag)::type;
        using C = ComputeType<T>;
        return Kernel{[=](const KernelArgs& args) {
          const T* x = args.in<T>(0);
          bool* y = args.out<bool>(0);
          for (int64_t i = 0; i < n; ++i) {
            const C value = static_cast<C>(x[i]);
            y[i] = nan ? std::isnan(value)
                       : std::isinf(value) && ((value > 0 && positive != 0) ||
                                               (value < 0 && negative != 0));
          }
        }};
      });
}

}  // namespace reprise::cpu
