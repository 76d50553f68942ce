// ScatterElements, ScatterND and OneHot. An index out of range writes nothing.
#include "runtime/ops/scatter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/ops/arithmetic.h"
#include "runtime/cpu/ops/convert.h"
#include "runtime/cpu/ops/families.h"
#include "runtime/cpu/ops/index.h"
#include "runtime/ops/gather.h"

namespace reprise::cpu {
namespace {

using ops::ScatterReduction;

// `n` values that meet those at `into`.
using ApplyFn = void (*)(ScatterReduction how, std::byte* into,
                         const std::byte* values, int64_t n);

template <typename T>
void Apply(ScatterReduction how, std::byte* into, const std::byte* values,
           int64_t n) {
  using C = ComputeType<T>;
  T* y = reinterpret_cast<T*>(into);
  const T* x = reinterpret_cast<const T*>(values);
  for (int64_t i = 0; i < n; ++i) {
    const C a = static_cast<C>(y[i]);
    const C b = static_cast<C>(x[i]);
    switch (how) {
      case ScatterReduction::kNone:
        y[i] = x[i];
        break;
      case ScatterReduction::kAdd:
        y[i] = static_cast<T>(AddFn()(a, b));
        break;
      case ScatterReduction::kMul:
        y[i] = static_cast<T>(MulFn()(a, b));
        break;
      case ScatterReduction::kMax:
        y[i] = static_cast<T>(std::max(a, b));
        break;
      case ScatterReduction::kMin:
        y[i] = static_cast<T>(std::min(a, b));
        break;
    }
  }
}

// Moving needs no arithmetic type, only a size; combining does.
absl::StatusOr<ApplyFn> FindApply(ScatterReduction how, DType dtype) {
  if (how == ScatterReduction::kNone && dtype != DType::kString) {
    return VisitBytes(dtype, [](auto tag) -> absl::StatusOr<ApplyFn> {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_integral_v<T>) return ApplyFn{Apply<T>};
      return ops::NotRunHere("not run for BYTES");
    });
  }
  return VisitNumber(dtype, [](auto tag) -> absl::StatusOr<ApplyFn> {
    return ApplyFn{Apply<typename decltype(tag)::type>};
  });
}

struct Scatter {
  ScatterReduction how = ScatterReduction::kNone;
  ApplyFn apply = nullptr;
  Dims data;
  Dims strides;
  int64_t total = 0;  // elements of the data
  int64_t size = 1;   // bytes of an element

  std::byte* CopyData(const KernelArgs& args) const {
    std::copy_n(args.inputs[0], total * size, args.outputs[0]);
    return args.outputs[0];
  }
};

absl::StatusOr<Scatter> MakeScatter(const ops::NodeView& view) {
  Scatter scatter;
  REPRISE_ASSIGN_OR_RETURN(scatter.how, ops::ReadScatterReduction(view));
  REPRISE_ASSIGN_OR_RETURN(scatter.apply,
                           FindApply(scatter.how, view.dtype(0)));
  scatter.data = view.dims(0);
  scatter.strides = Strides(scatter.data);
  REPRISE_ASSIGN_OR_RETURN(scatter.total, NumElements(scatter.data));
  scatter.size = static_cast<int64_t>(ElementSize(view.dtype(0)));
  return scatter;
}

// Where each update goes along the other axes is found from its own position.
struct ScatterElements {
  Scatter scatter;
  Dims updates;
  int64_t count = 0;
  int64_t axis = 0;
  Converter indices;

  int64_t Base(int64_t update) const {
    int64_t at = 0;
    for (auto k = static_cast<int64_t>(updates.size()) - 1; k >= 0; --k) {
      if (k != axis) at += update % updates[k] * scatter.strides[k];
      update /= updates[k];
    }
    return at;
  }

  void Run(const KernelArgs& args) const {
    std::byte* y = scatter.CopyData(args);
    ChunkBuffer buffer;
    for (int64_t done = 0; done < count;) {
      const int64_t n = std::min(count - done, kChunk);
      const auto* chosen = reinterpret_cast<const int64_t*>(indices.Read(
          args.inputs[1] + done * static_cast<int64_t>(indices.from_size()), 1,
          n, buffer));
      for (int64_t i = 0; i < n; ++i) {
        const int64_t at = FromFront(chosen[i], scatter.data[axis]);
        if (at < 0) continue;
        const int64_t target = Base(done + i) + at * scatter.strides[axis];
        scatter.apply(scatter.how, y + target * scatter.size,
                      args.inputs[2] + (done + i) * scatter.size, 1);
      }
      done += n;
    }
  }
};

struct ScatterNd {
  Scatter scatter;
  int64_t depth = 1;
  int64_t tuples = 1;
  int64_t inner = 1;

  void Run(const KernelArgs& args) const {
    std::byte* y = scatter.CopyData(args);
    const int64_t* tuple = args.in<int64_t>(1);
    const std::byte* values = args.inputs[2];
    for (int64_t t = 0; t < tuples; ++t, tuple += depth) {
      int64_t at = 0;
      bool inside = true;
      for (int64_t d = 0; d < depth; ++d) {
        const int64_t chosen = FromFront(tuple[d], scatter.data[d]);
        inside = inside && chosen >= 0;
        at += chosen * scatter.strides[d];
      }
      if (inside) {
        scatter.apply(scatter.how, y + at * scatter.size,
                      values + t * inner * scatter.size, inner);
      }
    }
  }
};

struct OneHot {
  int64_t outer = 1;
  int64_t depth = 1;
  int64_t inner = 1;
  Converter indices;

  template <typename T>
  void Run(const KernelArgs& args) const {
    const T* values = args.in<T>(2);  // off, on
    T* y = args.out<T>(0);
    std::fill_n(y, outer * depth * inner, values[0]);
    ChunkBuffer buffer;
    const int64_t count = outer * inner;
    for (int64_t done = 0; done < count;) {
      const int64_t n = std::min(count - done, kChunk);
      const auto* chosen = reinterpret_cast<const int64_t*>(indices.Read(
          args.inputs[0] + done * static_cast<int64_t>(indices.from_size()), 1,
          n, buffer));
      for (int64_t i = 0; i < n; ++i) {
        const int64_t hot = FromFront(chosen[i], depth);
        if (hot < 0) continue;
        const int64_t o = (done + i) / inner;
        y[(o * depth + hot) * inner + (done + i) % inner] = values[1];
      }
      done += n;
    }
  }
};

}  // namespace

absl::StatusOr<Kernel> MakeScatterElements(const KernelRequest& request) {
  ScatterElements elements;
  REPRISE_ASSIGN_OR_RETURN(elements.scatter, MakeScatter(request.view));
  REPRISE_ASSIGN_OR_RETURN(elements.axis, ops::ReadGatherAxis(request.view));
  elements.updates = request.view.dims(2);
  REPRISE_ASSIGN_OR_RETURN(elements.count, NumElements(elements.updates));
  elements.indices = Converter(request.view.dtype(1), DType::kInt64);
  return Kernel{[elements](const KernelArgs& args) { elements.Run(args); }};
}

absl::StatusOr<Kernel> MakeScatterNd(const KernelRequest& request) {
  ScatterNd nd;
  REPRISE_ASSIGN_OR_RETURN(nd.scatter, MakeScatter(request.view));
  REPRISE_ASSIGN_OR_RETURN(const ops::NdParams params,
                           ops::ReadNd(request.view));
  nd.depth = params.depth;
  for (int64_t i = 0; i + 1 < request.view.rank(1); ++i) {
    nd.tuples *= request.view.dim(1, i);
  }
  for (int64_t i = nd.depth; i < request.view.rank(0); ++i) {
    nd.inner *= request.view.dim(0, i);
  }
  return Kernel{[nd](const KernelArgs& args) { nd.Run(args); }};
}

absl::StatusOr<Kernel> MakeOneHot(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::OneHotParams params,
                           ops::ReadOneHot(request.view));
  OneHot hot;
  hot.depth = params.depth;
  hot.indices = Converter(request.view.dtype(0), DType::kInt64);
  for (int64_t i = 0; i < request.view.rank(0); ++i) {
    (i < params.axis ? hot.outer : hot.inner) *= request.view.dim(0, i);
  }
  return VisitBytes(
      request.view.dtype(2), [&](auto tag) -> absl::StatusOr<Kernel> {
        using T = typename decltype(tag)::type;
        return Kernel{[hot](const KernelArgs& args) { hot.Run<T>(args); }};
      });
}

}  // namespace reprise::cpu
