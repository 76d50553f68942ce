// How element-wise kernels of two operands walk over them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "absl/status/statusor.h"
#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/kernel.h"
#include "runtime/cpu/strided.h"

namespace reprise::cpu {

// Operands: output 0, then inputs `a` and `b` broadcast to it.
inline StridedLoop BinaryLoop(const KernelRequest& request, size_t a = 0,
                              size_t b = 1) {
  const Dims& out = request.outputs[0].dims;
  const Dims strides[] = {BroadcastStrides(out, out),
                          BroadcastStrides(request.view.dims(a), out),
                          BroadcastStrides(request.view.dims(b), out)};
  return MakeLoop(out, strides);
}

// The types whose loops are worth vector code; the others walk by strides.
template <typename T>
inline constexpr bool kVectorised =
    std::is_same_v<T, float> || std::is_same_v<T, int32_t> ||
    std::is_same_v<T, int64_t>;

// out[i] = fn(a[i], b[i]) for elements of T, results of R.
template <typename T, typename R, typename Fn>
void RunBinary(const StridedLoop& loop, const T* a, const T* b, R* out, Fn fn) {
  using C = ComputeType<T>;
  const int64_t n = loop.empty ? 0 : loop.inner();
  const int64_t step_out = loop.inner_stride(0);
  const int64_t step_a = loop.inner_stride(1);
  const int64_t step_b = loop.inner_stride(2);
  ForEachRow(loop, [&](const auto& at) {
    R* y = out + at[0];
    const T* u = a + at[1];
    const T* v = b + at[2];
    if constexpr (kVectorised<T>) {
      if (step_out == 1 && step_a == 1 && step_b == 1) {
        for (int64_t i = 0; i < n; ++i) {
          y[i] = static_cast<R>(fn(u[i], v[i]));
        }
        return;
      }
      if (step_out == 1 && step_a == 1 && step_b == 0) {
        const T right = *v;
        for (int64_t i = 0; i < n; ++i) y[i] = static_cast<R>(fn(u[i], right));
        return;
      }
      if (step_out == 1 && step_a == 0 && step_b == 1) {
        const T left = *u;
        for (int64_t i = 0; i < n; ++i) y[i] = static_cast<R>(fn(left, v[i]));
        return;
      }
    }
    for (int64_t i = 0; i < n; ++i) {
      y[i * step_out] = static_cast<R>(
          fn(static_cast<C>(u[i * step_a]), static_cast<C>(v[i * step_b])));
    }
  });
}

// A kernel of inputs 0 and 1 into output 0.
template <typename T, typename R, typename Fn>
Kernel BinaryKernel(const KernelRequest& request, Fn fn) {
  return {[loop = BinaryLoop(request), fn](const KernelArgs& args) {
    RunBinary(loop, args.in<T>(0), args.in<T>(1), args.out<R>(0), fn);
  }};
}

}  // namespace reprise::cpu
