// MaxPool, AveragePool and the global forms.
#include "runtime/ops/pool.h"

#include <cstdint>
#include <limits>
#include <span>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/ops/families.h"
#include "runtime/cpu/ops/window_walk.h"

namespace reprise::cpu {
namespace {

struct PoolShape {
  WindowWalk walk;
  int64_t planes = 1;  // rows times channels
  bool count_pads = false;
  bool column_major = false;
};

// plane(x, y, plane index) for every row and channel.
template <typename T, typename Plane>
Kernel PlaneKernel(const PoolShape& shape, Plane plane) {
  return {[shape, plane](const KernelArgs& args) {
    for (int64_t i = 0; i < shape.planes; ++i) {
      plane(shape, args, args.in<T>(0) + i * shape.walk.in_size,
            args.out<T>(0) + i * shape.walk.out_size, i);
    }
  }};
}

// MaxPool's second output names elements of the whole tensor; column-major
// order turns the spatial axes around.
int64_t IndexOf(const PoolShape& shape, int64_t plane, int64_t offset) {
  if (!shape.column_major) return plane * shape.walk.in_size + offset;
  int64_t index = 0;
  int64_t stride = shape.walk.in_size;
  int64_t rest = offset;
  int64_t row_major = shape.walk.in_size;
  stride = 1;
  for (int i = 0; i < shape.walk.axes; ++i) {
    row_major /= shape.walk.in[i];
    index += rest / row_major * stride;
    rest %= row_major;
    stride *= shape.walk.in[i];
  }
  return plane * shape.walk.in_size + index;
}

template <typename T>
void MaxPlane(const PoolShape& shape, const KernelArgs& args, const T* x, T* y,
              int64_t plane) {
  using C = ComputeType<T>;
  using Limits = std::numeric_limits<C>;
  int64_t* indices = args.out<int64_t>(1);
  for (int64_t o = 0; o < shape.walk.out_size; ++o) {
    C best = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    int64_t where = 0;
    bool any = false;
    ForEachTap(shape.walk, o, [&](int64_t, int64_t at) {
      const C value = static_cast<C>(x[at]);
      if (!any || value > best) {
        best = value;
        where = at;
        any = true;
      }
    });
    y[o] = static_cast<T>(best);
    if (indices != nullptr) {
      indices[plane * shape.walk.out_size + o] = IndexOf(shape, plane, where);
    }
  }
}

template <typename T>
void AveragePlane(const PoolShape& shape, const KernelArgs&, const T* x, T* y,
                  int64_t) {
  using C = ComputeType<T>;
  for (int64_t o = 0; o < shape.walk.out_size; ++o) {
    C sum{0};
    int64_t count = 0;
    ForEachTap(shape.walk, o, [&](int64_t, int64_t at) {
      sum += static_cast<C>(x[at]);
      ++count;
    });
    if (shape.count_pads) count = TapsWithinPads(shape.walk, o);
    y[o] = static_cast<T>(count == 0 ? C{0} : sum / static_cast<C>(count));
  }
}

}  // namespace

absl::StatusOr<Kernel> MakePool(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::PoolGeometry geometry,
                           ops::ReadPool(request.view));
  const absl::string_view op = request.view.op();
  const std::span<const int64_t> dims = request.view.dims(0);
  PoolShape shape;
  shape.walk = MakeWalk(geometry.window, dims.subspan(2));
  shape.planes = dims[0] * dims[1];
  shape.count_pads = geometry.count_include_pad;
  shape.column_major = geometry.column_major_indices;
  if (op == "MaxPool" || op == "GlobalMaxPool") {
    return VisitNumber(request.view.dtype(0),
                       [&](auto tag) -> absl::StatusOr<Kernel> {
                         using T = typename decltype(tag)::type;
                         return PlaneKernel<T>(shape, MaxPlane<T>);
                       });
  }
  return VisitFloat(request.view.dtype(0),
                    [&](auto tag) -> absl::StatusOr<Kernel> {
                      using T = typename decltype(tag)::type;
                      return PlaneKernel<T>(shape, AveragePlane<T>);
                    });
}

}  // namespace reprise::cpu
