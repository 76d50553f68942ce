// Normalisations.
#include "runtime/ops/norm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/ops/convert.h"
#include "runtime/cpu/ops/families.h"
#include "runtime/cpu/strided.h"

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

// y = x * scale + bias with the statistics folded into both, channel by
// channel, in scratch. Inputs 1 to 4 are scale, bias, mean and variance, of any
// float dtypes.
struct BatchNorm {
  Planes planes;
  float epsilon = 0;
  std::array<Converter, 4> load;  // to what T is computed in

  template <typename C>
  void FoldStatistics(const KernelArgs& args, C* scales, C* biases) const {
    std::array<ChunkBuffer, 4> buffers;
    std::array<const C*, 4> at{};
    for (int64_t done = 0; done < planes.channels;) {
      const int64_t n = std::min(planes.channels - done, kChunk);
      for (size_t k = 0; k < at.size(); ++k) {
        const auto size = static_cast<int64_t>(load[k].from_size());
        at[k] = reinterpret_cast<const C*>(
            load[k].Read(args.inputs[k + 1] + done * size, 1, n, buffers[k]));
      }
      for (int64_t i = 0; i < n; ++i) {
        const C deviation = std::sqrt(at[3][i] + static_cast<C>(epsilon));
        scales[done + i] = at[0][i] / deviation;
        biases[done + i] = at[1][i] - at[2][i] * scales[done + i];
      }
      done += n;
    }
  }

  template <typename T>
  void Run(const KernelArgs& args) const {
    using C = ComputeType<T>;
    C* scales = reinterpret_cast<C*>(args.scratch);
    C* biases = scales + planes.channels;
    FoldStatistics(args, scales, biases);
    const T* x = args.in<T>(0);
    T* y = args.out<T>(0);
    for (int64_t r = 0; r < planes.rows; ++r) {
      for (int64_t c = 0; c < planes.channels; ++c) {
        const C scale = scales[c];
        const C bias = biases[c];
        for (int64_t i = 0; i < planes.inner; ++i, ++x, ++y) {
          *y = static_cast<T>(static_cast<C>(*x) * scale + bias);
        }
      }
    }
  }
};

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

// Where the scale (or bias) of each inner element is in input `i`, which is
// broadcast to the axes from `axis` on; empty if it lies where the element
// does.
std::vector<int64_t> ParameterIndex(const ops::NodeView& view, size_t i,
                                    int64_t axis) {
  const std::span<const int64_t> inner =
      std::span<const int64_t>(view.dims(0)).subspan(static_cast<size_t>(axis));
  std::vector<int64_t> index;
  if (!view.Has(i) || std::ranges::equal(view.dims(i), inner)) return index;
  const Dims strides[] = {BroadcastStrides(view.dims(i), inner)};
  const StridedLoop loop = MakeLoop(inner, strides);
  ForEachRow(loop, [&](const auto& at) {
    for (int64_t k = 0; k < loop.inner(); ++k) {
      index.push_back(at[0] + k * loop.inner_stride(0));
    }
  });
  return index;
}

template <typename T>
Kernel LayerNormKernel(const ops::LayerNormParams& params,
                       std::vector<int64_t> scales,
                       std::vector<int64_t> biases) {
  return {[params, scales = std::move(scales),
           biases = std::move(biases)](const KernelArgs& args) {
    using C = ComputeType<T>;
    const T* x = args.in<T>(0);
    const T* scale = args.in<T>(1);
    const T* bias = args.in<T>(2);
    T* y = args.out<T>(0);
    const auto at = [](const T* from, const std::vector<int64_t>& index,
                       int64_t i) {
      return static_cast<double>(
          static_cast<C>(from[index.empty() ? i : index[i]]));
    };
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
        double value = unit * at(scale, scales, i);
        if (bias != nullptr) value += at(bias, biases, i);
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
  BatchNorm norm;
  norm.planes = PlanesOf(request.view.dims(0));
  norm.epsilon = params.epsilon;
  const DType compute = ComputeTypeOf(request.view.dtype(0));
  for (size_t k = 0; k < norm.load.size(); ++k) {
    const DType dtype = request.view.dtype(k + 1);
    if (!IsFloat(dtype)) {
      return ops::NotRunHere(
          absl::StrCat("not run for parameters of ", DTypeName(dtype)));
    }
    norm.load[k] = Converter(dtype, compute);
  }
  REPRISE_ASSIGN_OR_RETURN(const int64_t scratch,
                           NumBytes(compute, Dims{2, norm.planes.channels}));
  return VisitFloat(
      request.view.dtype(0), [&](auto tag) -> absl::StatusOr<Kernel> {
        using T = typename decltype(tag)::type;
        return Kernel{[norm](const KernelArgs& args) { norm.Run<T>(args); },
                      scratch};
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
  std::vector<int64_t> scales = ParameterIndex(request.view, 1, params.axis);
  std::vector<int64_t> biases = ParameterIndex(request.view, 2, params.axis);
  return VisitFloat(request.view.dtype(0),
                    [&](auto tag) -> absl::StatusOr<Kernel> {
                      return LayerNormKernel<typename decltype(tag)::type>(
                          params, std::move(scales), std::move(biases));
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
