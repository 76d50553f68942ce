// Element-wise functions of one tensor.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/cpu/ops/families.h"
#include "runtime/cpu/ops/rows.h"
#include "runtime/ops/elementwise.h"

namespace reprise::cpu {
namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kSqrtTwoOverPi = 0.79788456080286535588;

// y = fn(x), or fn(x, a, b) with the row's parameters.
template <typename T, typename R, typename Fn>
void FunctionRow(const Row& row) {
  const T* x = row.input<T>(0);
  R* y = row.output<R>();
  [[maybe_unused]] const T a = static_cast<T>(row.params.a);
  [[maybe_unused]] const T b = static_cast<T>(row.params.b);
  const int64_t n = row.n;
  const Fn fn;
  if (row.step[0] == 0) {  // a row of one element
    if constexpr (std::is_invocable_v<Fn, T>) {
      *y = fn(*x);
    } else {
      *y = fn(*x, a, b);
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_invocable_v<Fn, T>) {
      y[i] = fn(x[i]);
    } else {
      y[i] = fn(x[i], a, b);
    }
  }
}

template <typename T, typename Fn>
RowFn Of(Fn) {
  return FunctionRow<T, T, Fn>;
}

// ln(1 + e^x) without overflow.
template <typename T>
T Softplus(T x) {
  return std::max(x, T{0}) + std::log1p(std::exp(-std::abs(x)));
}

template <typename T>
T HardSigmoid(T x, T alpha, T beta) {
  // In this order NaN stays.
  return std::max(std::min(alpha * x + beta, T{1}), T{0});
}

// The functions without parameters; null if `op` is none of them.
template <typename T>
RowFn SimpleFloat(absl::string_view op) {
  if (op == "Exp") return Of<T>([](T x) { return std::exp(x); });
  if (op == "Log") return Of<T>([](T x) { return std::log(x); });
  if (op == "Sqrt") return Of<T>([](T x) { return std::sqrt(x); });
  if (op == "Reciprocal") return Of<T>([](T x) { return T{1} / x; });
  if (op == "Floor") return Of<T>([](T x) { return std::floor(x); });
  if (op == "Ceil") return Of<T>([](T x) { return std::ceil(x); });
  if (op == "Round") return Of<T>([](T x) { return std::nearbyint(x); });
  if (op == "Sin") return Of<T>([](T x) { return std::sin(x); });
  if (op == "Cos") return Of<T>([](T x) { return std::cos(x); });
  if (op == "Tan") return Of<T>([](T x) { return std::tan(x); });
  if (op == "Asin") return Of<T>([](T x) { return std::asin(x); });
  if (op == "Acos") return Of<T>([](T x) { return std::acos(x); });
  if (op == "Atan") return Of<T>([](T x) { return std::atan(x); });
  if (op == "Sinh") return Of<T>([](T x) { return std::sinh(x); });
  if (op == "Cosh") return Of<T>([](T x) { return std::cosh(x); });
  if (op == "Asinh") return Of<T>([](T x) { return std::asinh(x); });
  if (op == "Acosh") return Of<T>([](T x) { return std::acosh(x); });
  if (op == "Atanh") return Of<T>([](T x) { return std::atanh(x); });
  if (op == "Tanh") return Of<T>([](T x) { return std::tanh(x); });
  if (op == "Erf") return Of<T>([](T x) { return std::erf(x); });
  if (op == "Softplus") return Of<T>([](T x) { return Softplus(x); });
  if (op == "Sigmoid") {
    return Of<T>([](T x) { return T{1} / (T{1} + std::exp(-x)); });
  }
  if (op == "Softsign") {
    return Of<T>([](T x) { return x / (T{1} + std::abs(x)); });
  }
  if (op == "Mish") {
    return Of<T>([](T x) { return x * std::tanh(Softplus(x)); });
  }
  if (op == "HardSwish") {
    return Of<T>([](T x) { return x * HardSigmoid(x, T(1) / T(6), T(0.5)); });
  }
  return nullptr;
}

// Those with alpha and beta.
template <typename T>
RowFn ParameterFloat(absl::string_view op) {
  if (op == "LeakyRelu") {
    return Of<T>([](T x, T alpha, T) { return x < 0 ? alpha * x : x; });
  }
  if (op == "Elu") {
    return Of<T>(
        [](T x, T alpha, T) { return x < 0 ? alpha * std::expm1(x) : x; });
  }
  if (op == "Selu") {
    return Of<T>([](T x, T alpha, T gamma) {
      return gamma * (x <= 0 ? alpha * std::expm1(x) : x);
    });
  }
  if (op == "Celu") {
    return Of<T>([](T x, T alpha, T) {
      return std::max(T{0}, x) + std::min(T{0}, alpha * std::expm1(x / alpha));
    });
  }
  if (op == "ThresholdedRelu") {
    return Of<T>([](T x, T alpha, T) { return x > alpha ? x : T{0}; });
  }
  if (op == "HardSigmoid") {
    return Of<T>(
        [](T x, T alpha, T beta) { return HardSigmoid(x, alpha, beta); });
  }
  return nullptr;
}

template <typename T>
RowFn GeluRow(bool tanh) {
  if (tanh) {
    return Of<T>([](T x) {
      const T inner = T(kSqrtTwoOverPi) * (x + T(0.044715) * x * x * x);
      return T(0.5) * x * (T{1} + std::tanh(inner));
    });
  }
  return Of<T>(
      [](T x) { return T(0.5) * x * (T{1} + std::erf(x * T(kSqrtHalf))); });
}

// 0 - x, which wraps around for integers.
template <typename T>
T Negated(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return -x;
  } else {
    return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
  }
}

// Those that integers have too.
template <typename T>
RowFn SignedOrFloat(absl::string_view op) {
  if (op == "Neg") return Of<T>([](T x) { return Negated(x); });
  if (op == "Relu") return Of<T>([](T x) { return x < T{0} ? T{0} : x; });
  if (op == "Sign") {
    return Of<T>([](T x) {
      if constexpr (std::is_unsigned_v<T>) {
        return static_cast<T>(x != 0);
      } else {
        return x > 0 ? T{1} : (x < 0 ? T(-1) : x);  // NaN stays
      }
    });
  }
  return Of<T>([](T x) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::abs(x);
    } else {
      return x < T{0} ? Negated(x) : x;
    }
  });
}

// fn(tag) for float or double: what elements of a float dtype are computed in.
template <typename Fn>
absl::StatusOr<RowFn> VisitFloatRow(DType dtype, Fn fn) {
  if (!IsFloat(dtype)) {
    return ops::NotRunHere(
        absl::StrCat("not run for elements of ", DTypeName(dtype)));
  }
  return dtype == DType::kFp64 ? fn(TypeTag<double>()) : fn(TypeTag<float>());
}

// A low above the high gives the high, as in numpy.
template <typename T>
void ClipRow(const Row& row) {
  const T* x = row.input<T>(0);
  T* y = row.output<T>();
  T low = static_cast<T>(row.params.low);
  T high = static_cast<T>(row.params.high);
  if constexpr (std::is_floating_point_v<T>) {
    low = static_cast<T>(row.params.a);
    high = static_cast<T>(row.params.b);
  }
  const int64_t step = row.step[0];
  for (int64_t i = 0; i < row.n; ++i) {
    const T raised = x[i * step] < low ? low : x[i * step];
    y[i] = high < raised ? high : raised;
  }
}

// Bounds that the model computes: inputs 1 and 2, or 0 again where there is no
// such bound.
template <typename T, bool kLow, bool kHigh>
void ClipToRow(const Row& row) {
  const T* x = row.input<T>(0);
  const T low = *row.input<T>(1);
  const T high = *row.input<T>(2);
  T* y = row.output<T>();
  for (int64_t i = 0; i < row.n; ++i) {
    const T at = x[i * row.step[0]];
    const T raised = kLow && at < low ? low : at;
    y[i] = kHigh && high < raised ? high : raised;
  }
}

// Clip with a bound that the model computes.
absl::StatusOr<Kernel> MakeClipTo(const KernelRequest& request) {
  const DType dtype = request.view.dtype(0);
  const DType compute = ComputeTypeOf(dtype);
  const bool low = request.view.Has(1);
  const bool high = request.view.Has(2);
  REPRISE_ASSIGN_OR_RETURN(
      const RowFn fn,
      VisitCompute(dtype, [&](auto tag) -> absl::StatusOr<RowFn> {
        using T = typename decltype(tag)::type;
        if (low && high) return RowFn{ClipToRow<T, true, true>};
        return low ? RowFn{ClipToRow<T, true, false>}
                   : RowFn{ClipToRow<T, false, true>};
      }));
  const RowOperand output{dtype, compute, request.outputs[0].dims};
  const RowOperand bound{dtype, compute, {}};
  const RowOperand inputs[] = {output, bound, bound};
  return Kernel{[walk = RowWalk(output, inputs, fn), low,
                 high](const KernelArgs& args) {
    const std::byte* const operands[] = {
        args.inputs[0], args.inputs[low ? 1 : 0], args.inputs[high ? 2 : 0]};
    walk.Run(operands, args.outputs[0]);
  }};
}

// The bounds as ClipRow takes them; those that are absent are the type's.
template <typename T>
RowParams BoundsOf(const ops::ClipParams& clip) {
  RowParams params{.a = clip.low, .b = clip.high};
  if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    params.low =
        clip.has_low ? clip.low_int : static_cast<int64_t>(Limits::lowest());
    params.high =
        clip.has_high ? clip.high_int : static_cast<int64_t>(Limits::max());
  }
  return params;
}

struct IsNanFn {
  template <typename T>
  bool operator()(T x) const {
    return std::isnan(x);
  }
};

// a and b: whether positive and negative infinities count.
struct IsInfFn {
  template <typename T>
  bool operator()(T x, T a, T b) const {
    return std::isinf(x) && (x > 0 ? a != 0 : b != 0);
  }
};

}  // namespace

absl::StatusOr<Kernel> MakeUnary(const KernelRequest& request) {
  const absl::string_view op = request.view.op();
  const DType dtype = request.view.dtype(0);
  const DType compute = ComputeTypeOf(dtype);
  if (op == "Abs" || op == "Neg" || op == "Sign" || op == "Relu") {
    return VisitCompute(dtype, [&](auto tag) -> absl::StatusOr<Kernel> {
      using T = typename decltype(tag)::type;
      return RowKernel(request, compute, compute, SignedOrFloat<T>(op));
    });
  }
  RowParams params;
  bool tanh = false;
  if (op == "Gelu") {
    REPRISE_ASSIGN_OR_RETURN(tanh, ops::ReadGeluTanh(request.view));
  } else {
    REPRISE_ASSIGN_OR_RETURN(const ops::UnaryParams read,
                             ops::ReadUnary(request.view));
    params.a = static_cast<double>(read.alpha);
    params.b = static_cast<double>(read.beta);
  }
  REPRISE_ASSIGN_OR_RETURN(
      const RowFn fn, VisitFloatRow(dtype, [&](auto tag) -> RowFn {
        using T = typename decltype(tag)::type;
        if (op == "Gelu") return GeluRow<T>(tanh);
        const RowFn simple = SimpleFloat<T>(op);
        return simple != nullptr ? simple : ParameterFloat<T>(op);
      }));
  if (fn == nullptr) return ops::NotRunHere(absl::StrCat("no kernel for ", op));
  return RowKernel(request, compute, compute, fn, params);
}

absl::StatusOr<Kernel> MakeClip(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::ClipParams clip,
                           ops::ReadClipBounds(request.view));
  if (clip.low_computed || clip.high_computed) return MakeClipTo(request);
  // Bounds that are constants too are not read when the kernel runs.
  const DType dtype = request.view.dtype(0);
  const DType compute = ComputeTypeOf(dtype);
  const Dims& dims = request.outputs[0].dims;
  const RowOperand operand{dtype, compute, dims};
  return VisitCompute(dtype, [&](auto tag) -> absl::StatusOr<Kernel> {
    using T = typename decltype(tag)::type;
    return RowKernel(operand, std::span(&operand, 1), ClipRow<T>,
                     BoundsOf<T>(clip));
  });
}

absl::StatusOr<Kernel> MakeFloatTest(const KernelRequest& request) {
  const graph::Attributes& attributes = request.view.attributes();
  REPRISE_ASSIGN_OR_RETURN(const int64_t positive,
                           attributes.Int("detect_positive", 1));
  REPRISE_ASSIGN_OR_RETURN(const int64_t negative,
                           attributes.Int("detect_negative", 1));
  const DType dtype = request.view.dtype(0);
  const bool nan = request.view.op() == "IsNaN";
  REPRISE_ASSIGN_OR_RETURN(const RowFn fn,
                           VisitFloatRow(dtype, [nan](auto tag) -> RowFn {
                             using T = typename decltype(tag)::type;
                             if (nan) return FunctionRow<T, bool, IsNanFn>;
                             return FunctionRow<T, bool, IsInfFn>;
                           }));
  return RowKernel(
      request, ComputeTypeOf(dtype), DType::kBool, fn,
      {.a = positive != 0 ? 1.0 : 0.0, .b = negative != 0 ? 1.0 : 0.0});
}

}  // namespace reprise::cpu
