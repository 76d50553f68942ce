// Convolution, with the bias and the activation of its fused form.
#include "runtime/ops/conv.h"

#include <cstdint>
#include <span>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/activation.h"
#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/ops/families.h"
#include "runtime/cpu/ops/window_walk.h"

namespace reprise::cpu {
namespace {

struct ConvShape {
  WindowWalk walk;
  int64_t rows = 1;
  int64_t in_channels = 1;
  int64_t out_channels = 1;
  int64_t group = 1;
  ops::Activation activation;
};

template <typename T>
Kernel ConvKernel(const ConvShape& shape) {
  return {[shape](const KernelArgs& args) {
    using C = ComputeType<T>;
    const WindowWalk& walk = shape.walk;
    const int64_t in_group = shape.in_channels / shape.group;
    const int64_t out_group = shape.out_channels / shape.group;
    const T* bias = args.in<T>(2);
    T* y = args.out<T>(0);
    for (int64_t r = 0; r < shape.rows; ++r) {
      for (int64_t m = 0; m < shape.out_channels; ++m) {
        const int64_t first = m / out_group * in_group;
        const T* w = args.in<T>(1) + m * in_group * walk.taps;
        const T* x =
            args.in<T>(0) + (r * shape.in_channels + first) * walk.in_size;
        for (int64_t o = 0; o < walk.out_size; ++o) {
          C sum = bias == nullptr ? C{0} : static_cast<C>(bias[m]);
          ForEachTap(walk, o, [&](int64_t tap, int64_t at) {
            for (int64_t c = 0; c < in_group; ++c) {
              sum += static_cast<C>(x[c * walk.in_size + at]) *
                     static_cast<C>(w[c * walk.taps + tap]);
            }
          });
          *y++ = static_cast<T>(Activate(shape.activation, sum));
        }
      }
    }
  }};
}

}  // namespace

absl::StatusOr<Kernel> MakeConv(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::ConvGeometry geometry,
                           ops::ReadConv(request.view));
  ConvShape shape;
  REPRISE_ASSIGN_OR_RETURN(shape.activation,
                           ops::ReadActivation(*request.view.node));
  const std::span<const int64_t> dims = request.view.dims(0);
  shape.walk = MakeWalk(geometry.window, dims.subspan(2));
  shape.rows = dims[0];
  shape.in_channels = geometry.in_channels;
  shape.out_channels = geometry.out_channels;
  shape.group = geometry.group;
  return VisitFloat(request.view.dtype(0),
                    [&](auto tag) -> absl::StatusOr<Kernel> {
                      return ConvKernel<typename decltype(tag)::type>(shape);
                    });
}

}  // namespace reprise::cpu
