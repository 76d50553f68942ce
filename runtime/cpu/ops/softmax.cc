// Softmax, LogSoftmax and Hardmax.
#include "runtime/ops/softmax.h"

#include <cmath>
#include <cstdint>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/ops/families.h"

namespace reprise::cpu {
namespace {

// row(x, y, length, stride) for every run along the axis.
template <typename T, typename Row>
Kernel AlongKernel(const ops::SoftmaxParams& params, Row row) {
  return {[params, row](const KernelArgs& args) {
    const T* x = args.in<T>(0);
    T* y = args.out<T>(0);
    for (int64_t o = 0; o < params.outer; ++o) {
      for (int64_t i = 0; i < params.inner; ++i) {
        const int64_t at = o * params.length * params.inner + i;
        row(x + at, y + at, params.length, params.inner);
      }
    }
  }};
}

template <typename T>
ComputeType<T> Largest(const T* x, int64_t length, int64_t stride) {
  using C = ComputeType<T>;
  C max = static_cast<C>(x[0]);
  for (int64_t k = 1; k < length; ++k) {
    const C v = static_cast<C>(x[k * stride]);
    if (v > max || IsNan(v)) max = v;
  }
  return max;
}

template <typename T>
void SoftmaxRow(const T* x, T* y, int64_t length, int64_t stride, bool log) {
  using C = ComputeType<T>;
  if (length == 0) return;
  const C max = Largest(x, length, stride);
  C sum{0};
  for (int64_t k = 0; k < length; ++k) {
    sum += std::exp(static_cast<C>(x[k * stride]) - max);
  }
  const C log_sum = std::log(sum);
  for (int64_t k = 0; k < length; ++k) {
    const C shifted = static_cast<C>(x[k * stride]) - max;
    y[k * stride] =
        static_cast<T>(log ? shifted - log_sum : std::exp(shifted) / sum);
  }
}

template <typename T>
void HardmaxRow(const T* x, T* y, int64_t length, int64_t stride) {
  using C = ComputeType<T>;
  int64_t best = 0;
  for (int64_t k = 0; k < length; ++k) {
    if (static_cast<C>(x[k * stride]) > static_cast<C>(x[best * stride])) {
      best = k;
    }
  }
  for (int64_t k = 0; k < length; ++k) {
    y[k * stride] = static_cast<T>(static_cast<C>(k == best ? 1 : 0));
  }
}

}  // namespace

absl::StatusOr<Kernel> MakeSoftmax(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::SoftmaxParams params,
                           ops::ReadSoftmax(request.view));
  const bool hard = request.view.op() == "Hardmax";
  const bool log = request.view.op() == "LogSoftmax";
  return VisitFloat(
      request.view.dtype(0), [&](auto tag) -> absl::StatusOr<Kernel> {
        using T = typename decltype(tag)::type;
        if (hard) return AlongKernel<T>(params, HardmaxRow<T>);
        return AlongKernel<T>(
            params, [log](const T* x, T* y, int64_t length, int64_t stride) {
              SoftmaxRow(x, y, length, stride, log);
            });
      });
}

}  // namespace reprise::cpu
