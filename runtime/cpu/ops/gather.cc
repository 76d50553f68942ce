// Gathering: elements chosen by indices. An index out of range reads zeros:
// one row's bad index must not fail the batch that it is part of.
#include "runtime/ops/gather.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/ops/families.h"
#include "runtime/cpu/ops/index.h"

namespace reprise::cpu {
namespace {

struct GatherSizes {
  int64_t outer = 1;
  int64_t extent = 1;
  int64_t inner = 1;
  int64_t indices = 1;
};

template <typename T, typename I>
Kernel GatherKernel(const GatherSizes& sizes) {
  return {[sizes](const KernelArgs& args) {
    const T* x = args.in<T>(0);
    const I* indices = args.in<I>(1);
    T* y = args.out<T>(0);
    for (int64_t o = 0; o < sizes.outer; ++o) {
      const T* block = x + o * sizes.extent * sizes.inner;
      for (int64_t i = 0; i < sizes.indices; ++i, y += sizes.inner) {
        const int64_t at = FromFront(indices[i], sizes.extent);
        if (at < 0) {
          std::fill_n(y, sizes.inner, T{});
        } else {
          std::copy_n(block + at * sizes.inner, sizes.inner, y);
        }
      }
    }
  }};
}

// The dims of the output and the input seen as [outer, axis, inner].
struct AlongAxis {
  Dims out;
  Dims in_strides;
  int64_t extent = 1;
  int64_t axis = 0;
  int64_t total = 0;
};

template <typename T, typename I>
Kernel GatherElementsKernel(const AlongAxis& along) {
  return {[along](const KernelArgs& args) {
    const T* x = args.in<T>(0);
    const I* indices = args.in<I>(1);
    T* y = args.out<T>(0);
    for (int64_t i = 0; i < along.total; ++i) {
      int64_t rest = i;
      int64_t at = 0;
      for (int64_t axis = static_cast<int64_t>(along.out.size()) - 1; axis >= 0;
           --axis) {
        const int64_t index = rest % along.out[axis];
        rest /= along.out[axis];
        if (axis != along.axis) at += index * along.in_strides[axis];
      }
      const int64_t chosen = FromFront(indices[i], along.extent);
      y[i] = chosen < 0 ? T{} : x[at + chosen * along.in_strides[along.axis]];
    }
  }};
}

template <typename T>
Kernel GatherNdKernel(const Dims& data, int64_t batch, int64_t depth,
                      int64_t tuples, int64_t inner, int64_t batch_axes) {
  const Dims strides = Strides(data);
  int64_t batch_stride = 1;
  for (size_t i = static_cast<size_t>(batch_axes); i < data.size(); ++i) {
    batch_stride *= data[i];
  }
  return {[=](const KernelArgs& args) {
    const T* x = args.in<T>(0);
    const int64_t* indices = args.in<int64_t>(1);
    T* y = args.out<T>(0);
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t t = 0; t < tuples; ++t, indices += depth, y += inner) {
        int64_t at = b * batch_stride;
        bool inside = true;
        for (int64_t d = 0; d < depth; ++d) {
          const int64_t chosen = FromFront(indices[d], data[batch_axes + d]);
          inside = inside && chosen >= 0;
          at += chosen * strides[batch_axes + d];
        }
        if (inside) {
          std::copy_n(x + at, inner, y);
        } else {
          std::fill_n(y, inner, T{});
        }
      }
    }
  }};
}

}  // namespace

absl::StatusOr<Kernel> MakeGather(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis,
                           ops::ReadGatherAxis(request.view));
  const std::span<const int64_t> data = request.view.dims(0);
  GatherSizes sizes;
  sizes.outer = ElementCount(data.first(static_cast<size_t>(axis)));
  sizes.extent = data[axis];
  sizes.inner = ElementCount(data.subspan(static_cast<size_t>(axis) + 1));
  sizes.indices = ElementCount(request.view.dims(1));
  return VisitIndex(
      request.view.dtype(1), [&](auto index) -> absl::StatusOr<Kernel> {
        return VisitBytes(
            request.view.dtype(0), [&](auto tag) -> absl::StatusOr<Kernel> {
              return GatherKernel<typename decltype(tag)::type,
                                  typename decltype(index)::type>(sizes);
            });
      });
}

absl::StatusOr<Kernel> MakeGatherElements(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis,
                           ops::ReadGatherAxis(request.view));
  AlongAxis along;
  along.out = request.outputs[0].dims;
  along.in_strides = Strides(request.view.dims(0));
  along.extent = request.view.dims(0)[axis];
  along.axis = axis;
  along.total = ElementCount(along.out);
  return VisitIndex(
      request.view.dtype(1), [&](auto index) -> absl::StatusOr<Kernel> {
        return VisitBytes(
            request.view.dtype(0), [&](auto tag) -> absl::StatusOr<Kernel> {
              return GatherElementsKernel<typename decltype(tag)::type,
                                          typename decltype(index)::type>(
                  along);
            });
      });
}

absl::StatusOr<Kernel> MakeGatherNd(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::NdParams params,
                           ops::ReadNd(request.view));
  const std::span<const int64_t> data = request.view.dims(0);
  const std::span<const int64_t> indices = request.view.dims(1);
  const auto lead = static_cast<size_t>(params.batch);
  const int64_t batch = ElementCount(indices.first(lead));
  const int64_t tuples =
      ElementCount(indices.subspan(lead, indices.size() - 1 - lead));
  const int64_t inner =
      ElementCount(data.subspan(lead + static_cast<size_t>(params.depth)));
  return VisitBytes(request.view.dtype(0),
                    [&](auto tag) -> absl::StatusOr<Kernel> {
                      return GatherNdKernel<typename decltype(tag)::type>(
                          request.view.dims(0), batch, params.depth, tuples,
                          inner, params.batch);
                    });
}

}  // namespace reprise::cpu
