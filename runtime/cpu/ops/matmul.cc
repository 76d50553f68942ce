// MatMul and Gemm, with the bias and the activation of their fused forms.
#include "runtime/ops/matmul.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/activation.h"
#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/ops/arithmetic.h"
#include "runtime/cpu/ops/families.h"
#include "runtime/cpu/strided.h"

namespace reprise::cpu {
namespace {

// One product of [m,k] and [k,n], element strides apart.
struct Product {
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  int64_t a_row = 0;
  int64_t a_column = 1;
  int64_t b_row = 0;
  int64_t b_column = 1;
};

// finish(sum, row, column) makes the element of `out`, which is [m,n] densely.
template <typename T, typename Finish>
void Multiply(const Product& p, const T* a, const T* b, T* out, Finish finish) {
  using C = ComputeType<T>;
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      C sum{0};
      for (int64_t k = 0; k < p.k; ++k) {
        const C x = static_cast<C>(a[i * p.a_row + k * p.a_column]);
        const C y = static_cast<C>(b[k * p.b_row + j * p.b_column]);
        sum = AddFn()(sum, MulFn()(x, y));
      }
      *out++ = static_cast<T>(finish(sum, i, j));
    }
  }
}

// An integer times one of Gemm's factors, clamped to its type.
template <typename C>
C Scaled(float factor, C value) {
  using Limits = std::numeric_limits<C>;
  if (!(factor < 1) && !(factor > 1)) return value;
  const double scaled =
      static_cast<double>(factor) * static_cast<double>(value);
  if (std::isnan(scaled)) return C{0};
  if (scaled >= static_cast<double>(Limits::max())) return Limits::max();
  if (scaled <= static_cast<double>(Limits::lowest())) return Limits::lowest();
  return static_cast<C>(scaled);
}

template <typename C>
C Activated(const ops::Activation& activation, C x) {
  if constexpr (std::is_floating_point_v<C>) return Activate(activation, x);
  return x;
}

Product ProductOf(const ops::MatMulParams& params) {
  return {params.m, params.n, params.k, params.k, 1, params.n, 1};
}

template <typename T>
Kernel MatMulKernel(const ops::MatMulParams& params,
                    const ops::Activation& activation) {
  // Strides in matrices.
  const Dims strides[] = {BroadcastStrides(params.batch, params.batch),
                          BroadcastStrides(params.a_batch, params.batch),
                          BroadcastStrides(params.b_batch, params.batch)};
  return {[loop = MakeLoop(params.batch, strides), p = ProductOf(params),
           activation](const KernelArgs& args) {
    using C = ComputeType<T>;
    const T* bias = args.in<T>(2);
    ForEachRow(loop, [&](const auto& at) {
      for (int64_t i = 0; i < loop.inner(); ++i) {
        const int64_t a = at[1] + i * loop.inner_stride(1);
        const int64_t b = at[2] + i * loop.inner_stride(2);
        const int64_t y = at[0] + i * loop.inner_stride(0);
        Multiply(p, args.in<T>(0) + a * p.m * p.k,
                 args.in<T>(1) + b * p.k * p.n, args.out<T>(0) + y * p.m * p.n,
                 [&](C sum, int64_t, int64_t column) {
                   if (bias != nullptr) {
                     sum = AddFn()(sum, static_cast<C>(bias[column]));
                   }
                   return Activated(activation, sum);
                 });
      }
    });
  }};
}

template <typename T>
Kernel GemmKernel(const ops::GemmParams& params, const Dims& c_dims,
                  const ops::Activation& activation) {
  Product p{params.m, params.n, params.k, 0, 1, 0, 1};
  p.a_row = params.trans_a ? 1 : params.k;
  p.a_column = params.trans_a ? params.m : 1;
  p.b_row = params.trans_b ? 1 : params.n;
  p.b_column = params.trans_b ? params.k : 1;
  const Dims out{params.m, params.n};
  const Dims c = BroadcastStrides(c_dims, out);
  return {[p, params, row = c[0], column = c[1],
           activation](const KernelArgs& args) {
    using C = ComputeType<T>;
    const T* addend = params.has_c ? args.in<T>(2) : nullptr;
    Multiply(p, args.in<T>(0), args.in<T>(1), args.out<T>(0),
             [&](C sum, int64_t i, int64_t j) {
               if constexpr (std::is_floating_point_v<C>) {
                 sum *= static_cast<C>(params.alpha);
                 if (addend != nullptr) {
                   sum += static_cast<C>(params.beta) *
                          static_cast<C>(addend[i * row + j * column]);
                 }
               } else {
                 sum = Scaled(params.alpha, sum);
                 if (addend != nullptr) {
                   sum = AddFn()(
                       sum, Scaled(params.beta, addend[i * row + j * column]));
                 }
               }
               return Activated(activation, sum);
             });
  }};
}

}  // namespace

absl::StatusOr<Kernel> MakeMatMul(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::MatMulParams params,
                           ops::ReadMatMul(request.view));
  REPRISE_ASSIGN_OR_RETURN(const ops::Activation activation,
                           ops::ReadActivation(*request.view.node));
  return VisitNumber(
      request.view.dtype(0), [&](auto tag) -> absl::StatusOr<Kernel> {
        return MatMulKernel<typename decltype(tag)::type>(params, activation);
      });
}

absl::StatusOr<Kernel> MakeGemm(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::GemmParams params,
                           ops::ReadGemm(request.view));
  REPRISE_ASSIGN_OR_RETURN(const ops::Activation activation,
                           ops::ReadActivation(*request.view.node));
  const Dims c_dims = params.has_c ? request.view.dims(2) : Dims{};
  return VisitNumber(request.view.dtype(0),
                     [&](auto tag) -> absl::StatusOr<Kernel> {
                       return GemmKernel<typename decltype(tag)::type>(
                           params, c_dims, activation);
                     });
}

}  // namespace reprise::cpu
