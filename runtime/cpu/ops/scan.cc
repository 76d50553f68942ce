// Operators that go along one axis: ArgMax, ArgMin and CumSum.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/ops/convert.h"
#include "runtime/cpu/ops/families.h"
#include "runtime/cpu/ops/rows.h"
#include "runtime/ops/reduce.h"

namespace reprise::cpu {
namespace {

// A tensor seen as [outer, length, inner] around an axis.
struct AxisSizes {
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;
};

AxisSizes SizesAround(const Dims& dims, int64_t axis) {
  AxisSizes sizes;
  for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i) {
    (i < axis    ? sizes.outer
     : i == axis ? sizes.length
                 : sizes.inner) *= dims[i];
  }
  return sizes;
}

// fn(first) for the offset of the first element of every line along the axis.
template <typename Fn>
void ForEachLine(const AxisSizes& sizes, Fn fn) {
  for (int64_t o = 0; o < sizes.outer; ++o) {
    for (int64_t i = 0; i < sizes.inner; ++i) {
      fn(o * sizes.length * sizes.inner + i);
    }
  }
}

struct Arg {
  AxisSizes sizes;
  bool max = true;
  bool last = false;  // of several that are equal
  Converter load;

  template <typename T>
  int64_t Best(const std::byte* line) const {
    ChunkBuffer buffer;
    int64_t best = -1;
    T value{};
    for (int64_t done = 0; done < sizes.length;) {
      const int64_t n = std::min(sizes.length - done, kChunk);
      const std::byte* from =
          line + done * sizes.inner * static_cast<int64_t>(load.from_size());
      const auto* x =
          reinterpret_cast<const T*>(load.Read(from, sizes.inner, n, buffer));
      for (int64_t k = 0; k < n; ++k) {
        const bool better = max ? x[k] > value : x[k] < value;
        if (best < 0 || better || (last && x[k] == value)) {
          best = done + k;
          value = x[k];
        }
      }
      done += n;
    }
    return best;
  }

  template <typename T>
  void Run(const KernelArgs& args) const {
    int64_t* y = args.out<int64_t>(0);
    ForEachLine(sizes, [&](int64_t first) {
      *y++ = Best<T>(args.inputs[0] +
                     first * static_cast<int64_t>(load.from_size()));
    });
  }
};

struct CumSum {
  AxisSizes sizes;
  bool exclusive = false;
  bool reverse = false;
  Converter load;
  Converter store;

  // Sums of integers wrap around.
  template <typename T>
  void Line(const std::byte* x, std::byte* y) const {
    using W = typename std::conditional_t<std::is_integral_v<T>,
                                          std::make_unsigned<T>,
                                          std::type_identity<T>>::type;
    const auto size = static_cast<int64_t>(load.from_size());
    const int64_t step = (reverse ? -1 : 1) * sizes.inner;
    const int64_t start = reverse ? (sizes.length - 1) * sizes.inner : 0;
    const bool in_place = store.copies() && step == 1;
    ChunkBuffer in;
    ChunkBuffer out;
    W sum{0};
    for (int64_t done = 0; done < sizes.length;) {
      const int64_t n = std::min(sizes.length - done, kChunk);
      const int64_t at = (start + done * step) * size;
      const auto* values =
          reinterpret_cast<const T*>(load.Read(x + at, step, n, in));
      T* sums = reinterpret_cast<T*>(in_place ? y + at : out.data());
      for (int64_t k = 0; k < n; ++k) {
        const W before = sum;
        sum += static_cast<W>(values[k]);
        sums[k] = static_cast<T>(exclusive ? before : sum);
      }
      if (!in_place) store.Scatter(out.data(), y + at, step, n);
      done += n;
    }
  }

  template <typename T>
  void Run(const KernelArgs& args) const {
    const auto size = static_cast<int64_t>(load.from_size());
    ForEachLine(sizes, [&](int64_t first) {
      Line<T>(args.inputs[0] + first * size, args.outputs[0] + first * size);
    });
  }
};

}  // namespace

absl::StatusOr<Kernel> MakeArg(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::ArgParams params,
                           ops::ReadArg(request.view));
  const DType dtype = request.view.dtype(0);
  Arg arg;
  arg.sizes = SizesAround(request.view.dims(0), params.axis);
  arg.max = request.view.op() == "ArgMax";
  arg.last = params.select_last;
  if (arg.sizes.length == 0) {
    return ops::BadNode("the axis to search has no elements");
  }
  return VisitCompute(dtype, [&](auto tag) -> absl::StatusOr<Kernel> {
    using T = typename decltype(tag)::type;
    arg.load = Converter(dtype, ComputeTypeOf(dtype));
    return Kernel{[arg](const KernelArgs& args) { arg.Run<T>(args); }};
  });
}

absl::StatusOr<Kernel> MakeCumSum(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::CumSumParams params,
                           ops::ReadCumSum(request.view));
  const DType dtype = request.view.dtype(0);
  CumSum sum;
  sum.sizes = SizesAround(request.view.dims(0), params.axis);
  sum.exclusive = params.exclusive;
  sum.reverse = params.reverse;
  return VisitCompute(dtype, [&](auto tag) -> absl::StatusOr<Kernel> {
    using T = typename decltype(tag)::type;
    sum.load = Converter(dtype, ComputeTypeOf(dtype));
    sum.store = Converter(ComputeTypeOf(dtype), dtype);
    return Kernel{[sum](const KernelArgs& args) { sum.Run<T>(args); }};
  });
}

}  // namespace reprise::cpu
