// Normalisations.
#include "runtime/ops/norm.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/ops/families.h"

namespace reprise::cpu {
namespace {

// A tensor seen as [rows, channels, inner].
struct Planes {
  int64_t rows = 1;
  int64_t channels = 1;
  int64_t inner = 1;
};

Planes PlanesOf(const Dims& dims) {
  Planes planes;
  planes.rows = dims.empty() ? 1 : dims[0];
  if (dims.size() > 1) planes.channels = dims[1];
  for (size_t i = 2; i < dims.size(); ++i) planes.inner *= dims[i];
  return planes;
}

template <typename T, typename S, typename M>
Kernel BatchNormKernel(const Planes& planes, float epsilon) {
  return {[=](const KernelArgs& args) {
    const T* x = args.in<T>(0);
    T* y = args.out<T>(0);
    using C = ComputeType<T>;
    for (int64_t r = 0; r < planes.rows; ++r) {
      for (int64_t c = 0; c < planes.channels; ++c) {
        const C mean = static_cast<C>(args.in<M>(3)[c]);
        const C deviation = std::sqrt(static_cast<C>(args.in<M>(4)[c]) +
                                      static_cast<C>(epsilon));
        const C scale = static_cast<C>(args.in<S>(1)[c]) / deviation;
        const C bias = static_cast<C>(args.in<S>(2)[c]) - mean * scale;
        for (int64_t i = 0; i < planes.inner; ++i, ++x, ++y) {
          *y = static_cast<T>(static_cast<C>(*x) * scale + bias);
        }
      }
    }
  }};
}

template <typename T>
Kernel LrnKernel(const Planes& planes, const ops::LrnParams& params) {
  return {[=](const KernelArgs& args) {
    using C = ComputeType<T>;
    const int64_t before = (params.size - 1) / 2;
    const int64_t after = params.size - 1 - before;
    for (int64_t r = 0; r < planes.rows; ++r) {
      const int64_t base = r * planes.channels * planes.inner;
      const T* x = args.in<T>(0) + base;
      T* y = args.out<T>(0) + base;
      for (int64_t c = 0; c < planes.channels; ++c) {
        const int64_t first = std::max<int64_t>(0, c - before);
        const int64_t last = std::min(planes.channels - 1, c + after);
        for (int64_t i = 0; i < planes.inner; ++i) {
          C sum{0};
          for (int64_t k = first; k <= last; ++k) {
            const C v = static_cast<C>(x[k * planes.inner + i]);
            sum += v * v;
          }
          const C scale =
              static_cast<C>(params.bias) +
              static_cast<C>(params.alpha) / static_cast<C>(params.size) * sum;
          y[c * planes.inner + i] =
              static_cast<T>(static_cast<C>(x[c * planes.inner + i]) /
                             std::pow(scale, static_cast<C>(params.beta)));
        }
      }
    }
  }};
}

struct Moments {
  double mean = 0;
  double inverse = 0;  // of the standard deviation
};

template <typename T>
Moments MomentsOf(const T* x, int64_t n, float epsilon) {
  double mean = 0;
  for (int64_t i = 0; i < n; ++i) {
    mean += static_cast<double>(static_cast<ComputeType<T>>(x[i]));
  }
  mean /= static_cast<double>(n);
  double variance = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double d =
        static_cast<double>(static_cast<ComputeType<T>>(x[i])) - mean;
    variance += d * d;
  }
  variance /= static_cast<double>(n);
  return {mean, 1 / std::sqrt(variance + static_cast<double>(epsilon))};
}

// Elements of `part` for one of `whole`'s inner elements: those of scale and
// bias, which may be broadcast from trailing dims.
int64_t Repeats(const ops::NodeView& view, size_t i) {
  int64_t n = 1;
  for (const int64_t dim : view.dims(i)) n *= dim;
  return n;
}

template <typename T>
Kernel LayerNormKernel(const ops::LayerNormParams& params, int64_t scales,
                       int64_t biases) {
  return {[=](const KernelArgs& args) {
    using C = ComputeType<T>;
    const T* x = args.in<T>(0);
    const T* scale = args.in<T>(1);
    const T* bias = args.in<T>(2);
    T* y = args.out<T>(0);
    for (int64_t o = 0; o < params.outer; ++o) {
      const Moments moments = MomentsOf(x, params.inner, params.epsilon);
      if (float* mean = args.out<float>(1); mean != nullptr) {
        mean[o] = static_cast<float>(moments.mean);
      }
      if (float* inverse = args.out<float>(2); inverse != nullptr) {
        inverse[o] = static_cast<float>(moments.inverse);
      }
      for (int64_t i = 0; i < params.inner; ++i, ++x, ++y) {
        const double unit =
            (static_cast<double>(static_cast<C>(*x)) - moments.mean) *
            moments.inverse;
        double value =
            unit * static_cast<double>(static_cast<C>(scale[i % scales]));
        if (bias != nullptr) {
          value += static_cast<double>(static_cast<C>(bias[i % biases]));
        }
        *y = static_cast<T>(static_cast<C>(value));
      }
    }
  }};
}

template <typename T>
Kernel InstanceNormKernel(const Planes& planes, float epsilon) {
  return {[=](const KernelArgs& args) {
    using C = ComputeType<T>;
    const T* x = args.in<T>(0);
    T* y = args.out<T>(0);
    for (int64_t r = 0; r < planes.rows; ++r) {
      for (int64_t c = 0; c < planes.channels; ++c) {
        const Moments moments = MomentsOf(x, planes.inner, epsilon);
        const auto scale =
            static_cast<double>(static_cast<C>(args.in<T>(1)[c]));
        const auto bias = static_cast<double>(static_cast<C>(args.in<T>(2)[c]));
        for (int64_t i = 0; i < planes.inner; ++i, ++x, ++y) {
          const double unit =
              (static_cast<double>(static_cast<C>(*x)) - moments.mean) *
              moments.inverse;
          *y = static_cast<T>(static_cast<C>(unit * scale + bias));
        }
      }
    }
  }};
}

}  // namespace

absl::StatusOr<Kernel> MakeBatchNorm(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::BatchNormParams params,
                           ops::ReadBatchNorm(request.view));
  const Planes planes = PlanesOf(request.view.dims(0));
  return VisitFloat(
      request.view.dtype(0), [&](auto x) -> absl::StatusOr<Kernel> {
        return VisitFloat(
            request.view.dtype(1), [&](auto s) -> absl::StatusOr<Kernel> {
              return VisitFloat(
                  request.view.dtype(3), [&](auto m) -> absl::StatusOr<Kernel> {
                    return BatchNormKernel<typename decltype(x)::type,
                                           typename decltype(s)::type,
                                           typename decltype(m)::type>(
                        planes, params.epsilon);
                  });
            });
      });
}

absl::StatusOr<Kernel> MakeLrn(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::LrnParams params,
                           ops::ReadLrn(request.view));
  const Planes planes = PlanesOf(request.view.dims(0));
  return VisitFloat(
      request.view.dtype(0), [&](auto tag) -> absl::StatusOr<Kernel> {
        return LrnKernel<typename decltype(tag)::type>(planes, params);
      });
}

absl::StatusOr<Kernel> MakeLayerNorm(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::LayerNormParams params,
                           ops::ReadLayerNorm(request.view));
  const int64_t scales = std::max<int64_t>(1, Repeats(request.view, 1));
  const int64_t biases =
      params.has_bias ? std::max<int64_t>(1, Repeats(request.view, 2)) : 1;
  return VisitFloat(request.view.dtype(0),
                    [&](auto tag) -> absl::StatusOr<Kernel> {
                      return LayerNormKernel<typename decltype(tag)::type>(
                          params, scales, biases);
                    });
}

absl::StatusOr<Kernel> MakeInstanceNorm(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::InstanceNormParams params,
                           ops::ReadInstanceNorm(request.view));
  const Planes planes = PlanesOf(request.view.dims(0));
  return VisitFloat(request.view.dtype(0),
                    [&](auto tag) -> absl::StatusOr<Kernel> {
                      return InstanceNormKernel<typename decltype(tag)::type>(
                          planes, params.epsilon);
                    });
}

}  // namespace reprise::cpu
