// Resize and Upsample: nearest copies by tables; linear and cubic go over one
// axis after the other.
#include "runtime/ops/resize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/ops/axis_tables.h"
#include "runtime/cpu/ops/convert.h"
#include "runtime/cpu/ops/families.h"
#include "runtime/ops/resize_taps.h"

namespace reprise::cpu {
namespace {

using ops::ResizeTaps;

absl::StatusOr<Kernel> Nearest(const KernelRequest& request,
                               const ops::ResizeParams& params) {
  AxisSources sources;
  for (const ops::ResizeAxis& axis : params.axes) {
    REPRISE_RETURN_IF_ERROR(TakeTable(request, axis.out));
    REPRISE_ASSIGN_OR_RETURN(ResizeTaps taps,
                             ops::MakeResizeTaps(params, axis));
    sources.push_back(std::move(taps.indices));
  }
  static_assert(ResizeTaps::kOutside == kFillIndex);
  return TableKernel(request.view.dtype(0), request.view.dims(0),
                     std::move(sources), {.value = params.extrapolation});
}

// One axis of a tensor seen as [outer, axis, inner], in T.
template <typename T>
struct Pass {
  int64_t outer = 1;
  int64_t in = 1;
  int64_t out = 1;
  int64_t inner = 1;
  int64_t taps = 1;
  std::vector<int64_t> indices;
  std::vector<T> weights;
  T outside = 0;

  int64_t elements() const { return outer * out * inner; }

  void Run(const T* x, T* y) const {
    for (int64_t o = 0; o < outer; ++o, x += in * inner) {
      for (int64_t j = 0; j < out; ++j, y += inner) {
        const int64_t* index = indices.data() + j * taps;
        const T* weight = weights.data() + j * taps;
        if (*index == ResizeTaps::kOutside) {
          std::fill_n(y, inner, outside);
        } else if (inner == 1) {
          T sum = 0;
          for (int64_t t = 0; t < taps; ++t) sum += weight[t] * x[index[t]];
          *y = sum;
        } else {
          Blend(x, index, weight, y);
        }
      }
    }
  }

  // A row of the output: the weighted sum of rows of the input.
  void Blend(const T* x, const int64_t* index, const T* weight, T* y) const {
    const T* first = x + index[0] * inner;
    for (int64_t i = 0; i < inner; ++i) y[i] = weight[0] * first[i];
    for (int64_t t = 1; t < taps; ++t) {
      const T w = weight[t];
      const T* row = x + index[t] * inner;
      for (int64_t i = 0; i < inner; ++i) y[i] += w * row[i];
    }
  }
};

// All passes. Each reads what the one before it made, in one of two buffers of
// `room` elements; the first reads the input and the last makes the output,
// unless their elements are not T: then they are converted before and after.
template <typename T>
struct Passes {
  std::vector<Pass<T>> passes;
  Converter load;
  Converter store;
  int64_t elements_in = 0;
  int64_t elements_out = 0;
  int64_t room = 0;
  bool round = false;  // to integers, the even one of two equally near

  void Run(const KernelArgs& args) const {
    T* buffer = reinterpret_cast<T*>(args.scratch);
    T* other = buffer + room;
    const T* from = args.in<T>(0);
    if (!load.copies()) {
      load.Gather(args.inputs[0], 1, reinterpret_cast<std::byte*>(buffer),
                  elements_in);
      from = buffer;
      std::swap(buffer, other);
    }
    for (size_t i = 0; i < passes.size(); ++i) {
      const bool last = i + 1 == passes.size() && store.copies();
      T* const to = last ? args.out<T>(0) : buffer;
      passes[i].Run(from, to);
      from = to;
      std::swap(buffer, other);
    }
    if (store.copies() && !passes.empty()) return;
    if (round) {
      for (int64_t i = 0; i < elements_out; ++i) {
        buffer[i] = std::nearbyint(from[i]);
      }
      from = buffer;
    }
    store.Gather(reinterpret_cast<const std::byte*>(from), 1, args.outputs[0],
                 elements_out);
  }
};

// Axes that shrink most go first, so that later passes have less to do.
std::vector<size_t> Order(const ops::ResizeParams& params) {
  std::vector<size_t> order;
  for (size_t i = 0; i < params.axes.size(); ++i) {
    if (!params.axes[i].Keeps()) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) {
    const ops::ResizeAxis& a = params.axes[x];
    const ops::ResizeAxis& b = params.axes[y];
    return static_cast<double>(a.out) * static_cast<double>(b.in) <
           static_cast<double>(b.out) * static_cast<double>(a.in);
  });
  return order;
}

template <typename T>
absl::StatusOr<Pass<T>> MakePass(const KernelRequest& request,
                                 const ops::ResizeParams& params,
                                 const Dims& dims, size_t axis) {
  // Indices and weights, and the weights once more while they are rounded.
  if (request.tables != nullptr) {
    REPRISE_ASSIGN_OR_RETURN(const int64_t entries,
                             ops::ResizeTapEntries(params, params.axes[axis]));
    REPRISE_RETURN_IF_ERROR(request.tables->Take(
        entries * int64_t{sizeof(int64_t) + sizeof(double) + sizeof(T)}));
  }
  REPRISE_ASSIGN_OR_RETURN(ResizeTaps taps,
                           ops::MakeResizeTaps(params, params.axes[axis]));
  Pass<T> pass;
  for (size_t i = 0; i < dims.size(); ++i) {
    (i < axis ? pass.outer : i == axis ? pass.in : pass.inner) *= dims[i];
  }
  pass.out = params.axes[axis].out;
  pass.taps = taps.taps;
  pass.indices = std::move(taps.indices);
  pass.weights.assign(taps.weights.begin(), taps.weights.end());
  pass.outside = static_cast<T>(params.extrapolation);
  return pass;
}

template <typename T>
absl::StatusOr<Kernel> Weighted(const KernelRequest& request, DType compute,
                                const ops::ResizeParams& params) {
  auto all = std::make_shared<Passes<T>>();
  const DType dtype = request.view.dtype(0);
  all->load = Converter(dtype, compute);
  all->store = Converter(compute, dtype);
  all->round = IsInteger(dtype);
  Dims dims = request.view.dims(0);
  REPRISE_ASSIGN_OR_RETURN(all->elements_in, NumElements(dims));
  REPRISE_ASSIGN_OR_RETURN(all->elements_out,
                           NumElements(request.outputs[0].dims));
  int64_t room = dtype == compute ? 0 : all->elements_in;
  for (const size_t axis : Order(params)) {
    REPRISE_ASSIGN_OR_RETURN(Pass<T> pass,
                             MakePass<T>(request, params, dims, axis));
    dims[axis] = pass.out;
    REPRISE_ASSIGN_OR_RETURN(const int64_t elements, NumElements(dims));
    room = std::max(room, elements);
    all->passes.push_back(std::move(pass));
  }
  if (all->passes.size() < 2 && dtype == compute) room = 0;
  Dims buffers{2, room};
  all->room = room;
  Kernel kernel;
  REPRISE_ASSIGN_OR_RETURN(kernel.scratch_bytes, NumBytes(compute, buffers));
  kernel.run = [all = std::shared_ptr<const Passes<T>>(std::move(all))](
                   const KernelArgs& args) { all->Run(args); };
  return kernel;
}

}  // namespace

absl::StatusOr<Kernel> MakeResize(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::ResizeParams params,
                           ops::ReadResize(request.view));
  if (params.mode == ops::ResizeMode::kNearest) {
    return Nearest(request, params);
  }
  switch (request.view.dtype(0)) {
    case DType::kString:
    case DType::kBool:
      return ops::NotRunHere("only nearest takes BOOL and BYTES");
    case DType::kFp64:
    case DType::kInt32:
    case DType::kUint32:
    case DType::kInt64:
    case DType::kUint64:
      return Weighted<double>(request, DType::kFp64, params);
    default:
      return Weighted<float>(request, DType::kFp32, params);
  }
}

}  // namespace reprise::cpu
