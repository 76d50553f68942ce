// Element-wise arithmetic of two tensors, broadcast.
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/ops/arithmetic.h"
#include "runtime/cpu/ops/families.h"
#include "runtime/cpu/ops/rows.h"
#include "runtime/ops/elementwise.h"

namespace reprise::cpu {
namespace {

// Whether an integer division of `a` by `b` has no answer to give.
template <typename T>
bool NoQuotient(T a, T b) {
  if (b == 0) return true;
  if constexpr (std::is_signed_v<T>) {
    return b == -1 && a == std::numeric_limits<T>::min();
  }
  return false;
}

struct DivFn {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (NoQuotient(a, b)) return b == 0 ? T{0} : a;
    }
    return a / b;
  }
};

struct PReluFn {
  template <typename T>
  T operator()(T x, T slope) const {
    return x < T{0} ? MulFn()(x, slope) : x;
  }
};

// Python's modulo: the sign of the divisor.
struct FloorModFn {
  template <typename T>
  T operator()(T a, T b) const {
    if (NoQuotient(a, b)) return T{0};
    const T rest = a % b;
    return rest != 0 && ((rest < 0) != (b < 0)) ? rest + b : rest;
  }
};

struct CModFn {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return NoQuotient(a, b) ? T{0} : a % b;
    } else {
      return std::fmod(a, b);
    }
  }
};

// The base is T, the exponent double whatever it was. An exponent that holds
// for the row (Pow(x, 2) of a normalisation) is looked at once.
template <typename T>
void PowRow(const Row& row) {
  const T* base = row.input<T>(0);
  const double* exponent = row.input<double>(1);
  T* y = row.output<T>();
  const int64_t step = row.step[0];
  if (row.step[1] == 0 && *exponent == 2.0 && step == 1) {
    for (int64_t i = 0; i < row.n; ++i) y[i] = base[i] * base[i];
    return;
  }
  for (int64_t i = 0; i < row.n; ++i) {
    const T x = base[i * step];
    const T e = static_cast<T>(exponent[i * row.step[1]]);
    y[i] = e == T{2} ? x * x : std::pow(x, e);
  }
}

template <typename Fn>
absl::StatusOr<Kernel> NumberKernel(const KernelRequest& request) {
  const DType compute = ComputeTypeOf(request.view.dtype(0));
  return VisitCompute(compute, [&](auto tag) -> absl::StatusOr<Kernel> {
    using T = typename decltype(tag)::type;
    return RowKernel(request, compute, compute, BinaryRow<T, T, Fn>);
  });
}

// The same for functions of which the low bits of the result depend on the low
// bits of the operands alone: narrow integers need not be widened.
template <typename Fn>
absl::StatusOr<Kernel> WrappingKernel(const KernelRequest& request) {
  const DType dtype = request.view.dtype(0);
  if (IsInteger(dtype) && ElementSize(dtype) == 1) {
    return RowKernel(request, dtype, dtype, BinaryRow<uint8_t, uint8_t, Fn>);
  }
  if (IsInteger(dtype) && ElementSize(dtype) == 2) {
    return RowKernel(request, dtype, dtype, BinaryRow<uint16_t, uint16_t, Fn>);
  }
  return NumberKernel<Fn>(request);
}

}  // namespace

absl::StatusOr<Kernel> MakeArithmetic(const KernelRequest& request) {
  const absl::string_view op = request.view.op();
  if (op == "Add") return WrappingKernel<AddFn>(request);
  if (op == "Sub") return WrappingKernel<SubFn>(request);
  if (op == "Mul") return WrappingKernel<MulFn>(request);
  if (op == "Div") return NumberKernel<DivFn>(request);
  return NumberKernel<PReluFn>(request);
}

absl::StatusOr<Kernel> MakePow(const KernelRequest& request) {
  const bool narrow =
      ComputeTypeOf(request.view.dtype(0)) == DType::kFp32;  // else in double
  const DType compute = narrow ? DType::kFp32 : DType::kFp64;
  const RowOperand inputs[] = {
      {request.view.dtype(0), compute, request.view.dims(0)},
      {request.view.dtype(1), DType::kFp64, request.view.dims(1)}};
  const RowOperand output{request.outputs[0].dtype, compute,
                          request.outputs[0].dims};
  return RowKernel(output, inputs, narrow ? PowRow<float> : PowRow<double>);
}

absl::StatusOr<Kernel> MakeMod(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const bool c_like, ops::ReadFmod(request.view));
  if (c_like) return NumberKernel<CModFn>(request);
  const DType compute = ComputeTypeOf(request.view.dtype(0));
  return VisitComputeInteger(compute, [&](auto tag) -> absl::StatusOr<Kernel> {
    using T = typename decltype(tag)::type;
    return RowKernel(request, compute, compute, BinaryRow<T, T, FloorModFn>);
  });
}

}  // namespace reprise::cpu
