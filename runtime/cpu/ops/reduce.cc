// Reductions, ArgMax and ArgMin, CumSum.
#include "runtime/ops/reduce.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/ops/families.h"
#include "runtime/cpu/strided.h"

namespace reprise::cpu {
namespace {

// Sums of 32-bit and narrower floats are kept in double, so that the answer
// does not depend on the order; 64 bits is what integers wrap in.
template <typename T>
using SumType = std::conditional_t<
    kIsFloat<T>, double,
    std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

// `kept` walks output (operand 0) and input (operand 1) over the axes that
// stay; `folded` walks the input (operands 0 and 1) over those that go.
struct ReduceLoops {
  StridedLoop kept;
  StridedLoop folded;
  int64_t count = 1;  // elements that one output is made of
};

ReduceLoops MakeLoops(const Dims& in, const ops::ReduceParams& params) {
  const Dims strides = Strides(in);
  Dims kept;
  Dims kept_in;
  Dims folded;
  Dims folded_in;
  ReduceLoops loops;
  for (size_t i = 0; i < in.size(); ++i) {
    if (std::find(params.axes.begin(), params.axes.end(),
                  static_cast<int64_t>(i)) == params.axes.end()) {
      kept.push_back(in[i]);
      kept_in.push_back(strides[i]);
    } else {
      folded.push_back(in[i]);
      folded_in.push_back(strides[i]);
      loops.count *= in[i];
    }
  }
  const Dims kept_strides[] = {Strides(kept), kept_in};
  const Dims folded_strides[] = {folded_in, folded_in};
  loops.kept = MakeLoop(kept, kept_strides);
  loops.folded = MakeLoop(folded, folded_strides);
  return loops;
}

// fold(accumulator, value) over the folded axes from `initial`, then
// finish(accumulator).
template <typename T, typename A, typename Fold, typename Finish>
Kernel ReduceKernel(const ReduceLoops& loops, A initial, Fold fold,
                    Finish finish) {
  return {[loops, initial, fold, finish](const KernelArgs& args) {
    const T* x = args.in<T>(0);
    T* y = args.out<T>(0);
    const StridedLoop& kept = loops.kept;
    const StridedLoop& folded = loops.folded;
    ForEachRow(kept, [&](const auto& at) {
      for (int64_t i = 0; i < kept.inner(); ++i) {
        const T* from = x + at[1] + i * kept.inner_stride(1);
        A sum = initial;
        ForEachRow(folded, [&](const auto& below) {
          const T* row = from + below[0];
          const int64_t step = folded.inner_stride(0);
          for (int64_t k = 0; k < folded.inner(); ++k) {
            sum = fold(sum, static_cast<ComputeType<T>>(row[k * step]));
          }
        });
        y[at[0] + i * kept.inner_stride(0)] = static_cast<T>(finish(sum));
      }
    });
  }};
}

template <typename T>
Kernel MinMaxKernel(const ReduceLoops& loops, bool max) {
  using C = ComputeType<T>;
  using Limits = std::numeric_limits<C>;
  const auto same = [](C a) { return a; };
  if (max) {
    const C lowest =
        Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    return ReduceKernel<T>(
        loops, lowest, [](C a, C b) { return a > b || a != a ? a : b; }, same);
  }
  const C highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
  return ReduceKernel<T>(
      loops, highest, [](C a, C b) { return a < b || a != a ? a : b; }, same);
}

// log(sum(exp(x))) without overflow needs the maximum first.
template <typename T>
Kernel LogSumExpKernel(const ReduceLoops& loops) {
  return {[loops](const KernelArgs& args) {
    const T* x = args.in<T>(0);
    T* y = args.out<T>(0);
    const StridedLoop& kept = loops.kept;
    ForEachRow(kept, [&](const auto& at) {
      for (int64_t i = 0; i < kept.inner(); ++i) {
        const T* from = x + at[1] + i * kept.inner_stride(1);
        const auto each = [&](auto fn) {
          ForEachRow(loops.folded, [&](const auto& below) {
            for (int64_t k = 0; k < loops.folded.inner(); ++k) {
              fn(static_cast<double>(static_cast<ComputeType<T>>(
                  from[below[0] + k * loops.folded.inner_stride(0)])));
            }
          });
        };
        double max = -std::numeric_limits<double>::infinity();
        each([&](double v) { max = v > max || v != v ? v : max; });
        const double shift = std::isfinite(max) ? max : 0;
        double sum = 0;
        each([&](double v) { sum += std::exp(v - shift); });
        y[at[0] + i * kept.inner_stride(0)] =
            static_cast<T>(static_cast<ComputeType<T>>(std::log(sum) + shift));
      }
    });
  }};
}

template <typename T>
absl::StatusOr<Kernel> ReduceOf(absl::string_view op,
                                const ReduceLoops& loops) {
  using A = SumType<T>;
  const A zero{0};
  const auto count = static_cast<A>(loops.count);
  const auto add = [](A a, auto b) { return a + static_cast<A>(b); };
  const auto square = [](A a, auto b) {
    return a + static_cast<A>(b) * static_cast<A>(b);
  };
  const auto same = [](A a) { return static_cast<ComputeType<T>>(a); };
  if (op == "ReduceMax") return MinMaxKernel<T>(loops, true);
  if (op == "ReduceMin") return MinMaxKernel<T>(loops, false);
  if (op == "ReduceSum") return ReduceKernel<T>(loops, zero, add, same);
  if (op == "ReduceMean") {
    return ReduceKernel<T>(loops, zero, add, [count](A a) {
      if constexpr (std::is_integral_v<A>) {
        return static_cast<ComputeType<T>>(count == 0 ? A{0} : a / count);
      } else {
        return static_cast<ComputeType<T>>(a / count);
      }
    });
  }
  if (op == "ReduceProd") {
    return ReduceKernel<T>(
        loops, A{1}, [](A a, auto b) { return a * static_cast<A>(b); }, same);
  }
  if (op == "ReduceSumSquare")
    return ReduceKernel<T>(loops, zero, square, same);
  if (op == "ReduceL1") {
    return ReduceKernel<T>(
        loops, zero,
        [](A a, auto b) {
          const A v = static_cast<A>(b);
          return a + (v < A{0} ? A{0} - v : v);
        },
        same);
  }
  if (op == "ReduceL2") {
    return ReduceKernel<T>(loops, zero, square, [](A a) {
      return static_cast<ComputeType<T>>(std::sqrt(static_cast<double>(a)));
    });
  }
  if (op == "ReduceLogSum") {
    return ReduceKernel<T>(loops, zero, add, [](A a) {
      return static_cast<ComputeType<T>>(std::log(static_cast<double>(a)));
    });
  }
  if (op == "ReduceLogSumExp") return LogSumExpKernel<T>(loops);
  return ops::NotRunHere(absl::StrCat("no kernel for ", op));
}

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

template <typename T>
Kernel ArgKernel(const AxisSizes& sizes, bool max, bool last) {
  return {[=](const KernelArgs& args) {
    using C = ComputeType<T>;
    const T* x = args.in<T>(0);
    int64_t* y = args.out<int64_t>(0);
    for (int64_t o = 0; o < sizes.outer; ++o) {
      for (int64_t i = 0; i < sizes.inner; ++i) {
        const T* row = x + o * sizes.length * sizes.inner + i;
        int64_t best = 0;
        C value = static_cast<C>(row[0]);
        for (int64_t k = 1; k < sizes.length; ++k) {
          const C next = static_cast<C>(row[k * sizes.inner]);
          const bool better = max ? next > value : next < value;
          if (better || (last && next == value)) {
            best = k;
            value = next;
          }
        }
        *y++ = best;
      }
    }
  }};
}

template <typename T>
Kernel CumSumKernel(const AxisSizes& sizes, bool exclusive, bool reverse) {
  return {[=](const KernelArgs& args) {
    using C = ComputeType<T>;
    const T* x = args.in<T>(0);
    T* y = args.out<T>(0);
    for (int64_t o = 0; o < sizes.outer; ++o) {
      for (int64_t i = 0; i < sizes.inner; ++i) {
        const int64_t base = o * sizes.length * sizes.inner + i;
        C sum{0};
        for (int64_t k = 0; k < sizes.length; ++k) {
          const int64_t at =
              base + (reverse ? sizes.length - 1 - k : k) * sizes.inner;
          const C value = static_cast<C>(x[at]);
          if (exclusive) y[at] = static_cast<T>(sum);
          sum = static_cast<C>(sum + value);
          if (!exclusive) y[at] = static_cast<T>(sum);
        }
      }
    }
  }};
}

}  // namespace

absl::StatusOr<Kernel> MakeReduce(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::ReduceParams params,
                           ops::ReadReduce(request.view));
  const ReduceLoops loops = MakeLoops(request.view.dims(0), params);
  if (params.axes.empty() && request.view.op() != "ReduceSumSquare") {
    return MakeCopy(request);
  }
  return VisitNumber(
      request.view.dtype(0), [&](auto tag) -> absl::StatusOr<Kernel> {
        return ReduceOf<typename decltype(tag)::type>(request.view.op(), loops);
      });
}

absl::StatusOr<Kernel> MakeArg(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::ArgParams params,
                           ops::ReadArg(request.view));
  const AxisSizes sizes = SizesAround(request.view.dims(0), params.axis);
  const bool max = request.view.op() == "ArgMax";
  if (sizes.length == 0) {
    return ops::BadNode("the axis to search has no elements");
  }
  return VisitNumber(request.view.dtype(0),
                     [&](auto tag) -> absl::StatusOr<Kernel> {
                       return ArgKernel<typename decltype(tag)::type>(
                           sizes, max, params.select_last);
                     });
}

absl::StatusOr<Kernel> MakeCumSum(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::CumSumParams params,
                           ops::ReadCumSum(request.view));
  const AxisSizes sizes = SizesAround(request.view.dims(0), params.axis);
  return VisitNumber(request.view.dtype(0),
                     [&](auto tag) -> absl::StatusOr<Kernel> {
                       return CumSumKernel<typename decltype(tag)::type>(
                           sizes, params.exclusive, params.reverse);
                     });
}

}  // namespace reprise::cpu
