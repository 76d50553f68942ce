// Where and Cast.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/ops/families.h"
#include "runtime/cpu/strided.h"
#include "runtime/ops/elementwise.h"

namespace reprise::cpu {
namespace {

// From one number to another. What does not fit an integer is clamped to its
// range, and NaN becomes 0: C++ leaves both undefined.
template <typename From, typename To>
To Convert(From from) {
  const auto value = static_cast<ComputeType<From>>(from);
  using V = decltype(value);
  if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (std::is_floating_point_v<std::remove_const_t<V>> &&
                       std::is_integral_v<To>) {
    if (std::isnan(value)) return To{0};
    // The upper bound as a float may be one above the integer's maximum.
    if (value >= static_cast<double>(std::numeric_limits<To>::max())) {
      return std::numeric_limits<To>::max();
    }
    if (value <= static_cast<double>(std::numeric_limits<To>::lowest())) {
      return std::numeric_limits<To>::lowest();
    }
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

template <typename From, typename To>
Kernel CastKernel(int64_t n) {
  return {[n](const KernelArgs& args) {
    To* y = args.out<To>(0);
    if constexpr (std::is_same_v<From, bool>) {  // any byte but 0 is true
      const auto* x = args.in<uint8_t>(0);
      for (int64_t i = 0; i < n; ++i) y[i] = static_cast<To>(x[i] != 0 ? 1 : 0);
    } else {
      const From* x = args.in<From>(0);
      for (int64_t i = 0; i < n; ++i) y[i] = Convert<From, To>(x[i]);
    }
  }};
}

}  // namespace

absl::StatusOr<Kernel> MakeCast(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t n, NumElements(request.view.dims(0)));
  return VisitNumberOrBool(
      request.view.dtype(0), [&](auto from) -> absl::StatusOr<Kernel> {
        return VisitNumberOrBool(
            request.outputs[0].dtype, [&](auto to) -> absl::StatusOr<Kernel> {
              return CastKernel<typename decltype(from)::type,
                                typename decltype(to)::type>(n);
            });
      });
}

absl::StatusOr<Kernel> MakeWhere(const KernelRequest& request) {
  const Dims& out = request.outputs[0].dims;
  const Dims strides[] = {BroadcastStrides(out, out),
                          BroadcastStrides(request.view.dims(0), out),
                          BroadcastStrides(request.view.dims(1), out),
                          BroadcastStrides(request.view.dims(2), out)};
  const StridedLoop loop = MakeLoop(out, strides);
  return VisitBytes(request.outputs[0].dtype,
                    [&](auto tag) -> absl::StatusOr<Kernel> {
                      using T = typename decltype(tag)::type;
                      return Kernel{[loop](const KernelArgs& args) {
                        const auto* condition = args.in<uint8_t>(0);
                        const T* yes = args.in<T>(1);
                        const T* no = args.in<T>(2);
                        T* y = args.out<T>(0);
                        ForEachRow(loop, [&](const auto& at) {
                          for (int64_t i = 0; i < loop.inner(); ++i) {
                            y[at[0] + i * loop.inner_stride(0)] =
                                condition[at[1] + i * loop.inner_stride(1)] != 0
                                    ? yes[at[2] + i * loop.inner_stride(2)]
                                    : no[at[3] + i * loop.inner_stride(3)];
                          }
                        });
                      }};
                    });
}

}  // namespace reprise::cpu
