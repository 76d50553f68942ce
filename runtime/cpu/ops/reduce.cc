// Reductions.
#include "runtime/ops/reduce.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/ops/arithmetic.h"
#include "runtime/cpu/ops/convert.h"
#include "runtime/cpu/ops/families.h"
#include "runtime/cpu/strided.h"

namespace reprise::cpu {
namespace {

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

// A sum, product or extreme so far: 8 bytes of the folded dtype's carrier. In
// double, a sum of floats hardly depends on the order; 64 bits is what integers
// wrap in.
constexpr size_t kSumSize = 8;
using SumBytes = std::array<std::byte, kSumSize>;

template <typename A>
SumBytes BytesOf(A value) {
  SumBytes bytes{};
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

template <typename T>
using SumType = std::conditional_t<std::is_floating_point_v<T>, double, T>;

// `n` elements that lie together into one sum, or each into a sum of its own.
using FoldFn = void (*)(const std::byte* elements, int64_t n, std::byte* sums);

template <typename T, typename Fn>
void FoldIntoOne(const std::byte* elements, int64_t n, std::byte* sums) {
  using A = SumType<T>;
  const T* x = reinterpret_cast<const T*>(elements);
  A sum = *reinterpret_cast<const A*>(sums);
  const Fn fn;
  for (int64_t i = 0; i < n; ++i) sum = fn(sum, static_cast<A>(x[i]));
  *reinterpret_cast<A*>(sums) = sum;
}

template <typename T, typename Fn>
void FoldIntoEach(const std::byte* elements, int64_t n, std::byte* sums) {
  using A = SumType<T>;
  const T* x = reinterpret_cast<const T*>(elements);
  A* sum = reinterpret_cast<A*>(sums);
  const Fn fn;
  for (int64_t i = 0; i < n; ++i) sum[i] = fn(sum[i], static_cast<A>(x[i]));
}

struct AddSquareFn {
  template <typename A>
  A operator()(A sum, A x) const {
    return AddFn()(sum, MulFn()(x, x));
  }
};
struct AddAbsFn {
  template <typename A>
  A operator()(A sum, A x) const {
    return AddFn()(sum, x < A{0} ? MulFn()(A(-1), x) : x);
  }
};

struct Folds {
  FoldFn one = nullptr;
  FoldFn each = nullptr;
};

template <typename Fn>
Folds FoldsOf(DType folded) {
  switch (folded) {
    case DType::kFp32:
      return {FoldIntoOne<float, Fn>, FoldIntoEach<float, Fn>};
    case DType::kFp64:
      return {FoldIntoOne<double, Fn>, FoldIntoEach<double, Fn>};
    case DType::kUint64:
      return {FoldIntoOne<uint64_t, Fn>, FoldIntoEach<uint64_t, Fn>};
    default:
      return {FoldIntoOne<int64_t, Fn>, FoldIntoEach<int64_t, Fn>};
  }
}

// The least (or greatest) element of a dtype, as a sum: what is left of
// nothing.
template <typename T>
SumBytes Extreme(bool greatest) {
  using C = ComputeType<T>;
  using Limits = std::numeric_limits<C>;
  if constexpr (std::is_same_v<T, bool>) {
    return BytesOf(int64_t{greatest ? 1 : 0});
  } else if constexpr (Limits::has_infinity) {
    const auto infinity = static_cast<double>(Limits::infinity());
    return BytesOf(greatest ? infinity : -infinity);
  } else {
    using A = std::conditional_t<std::is_signed_v<C>, int64_t, uint64_t>;
    return BytesOf(static_cast<A>(greatest ? Limits::max() : Limits::lowest()));
  }
}

absl::StatusOr<SumBytes> ExtremeOf(DType dtype, bool greatest) {
  return VisitNumberOrBool(
      dtype, [greatest](auto tag) -> absl::StatusOr<SumBytes> {
        return Extreme<typename decltype(tag)::type>(greatest);
      });
}

// What becomes of `n` sums of `count` elements each.
using FinishFn = void (*)(std::byte* sums, int64_t n, int64_t count);

template <typename A>
void Mean(std::byte* sums, int64_t n, int64_t count) {
  A* sum = reinterpret_cast<A*>(sums);
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_integral_v<A>) {
      sum[i] = count == 0 ? A{0} : sum[i] / static_cast<A>(count);
    } else {
      sum[i] /= static_cast<A>(count);
    }
  }
}

void SquareRoot(std::byte* sums, int64_t n, int64_t) {
  double* sum = reinterpret_cast<double*>(sums);
  for (int64_t i = 0; i < n; ++i) sum[i] = std::sqrt(sum[i]);
}

void Logarithm(std::byte* sums, int64_t n, int64_t) {
  double* sum = reinterpret_cast<double*>(sums);
  for (int64_t i = 0; i < n; ++i) sum[i] = std::log(sum[i]);
}

FinishFn MeanOf(DType carrier) {
  if (carrier == DType::kFp64) return Mean<double>;
  return carrier == DType::kInt64 ? Mean<int64_t> : Mean<uint64_t>;
}

struct Reduction {
  ReduceLoops loops;
  DType folded = DType::kFp32;  // what the folds take
  Folds folds;
  SumBytes initial{};
  FinishFn finish = nullptr;
  Converter load;
  Converter store;

  // Outputs that lie together are made by elements that lie together: whole
  // rows are folded into rows of sums.
  void FoldRows(const std::byte* x, int64_t n, std::byte* sums) const {
    ChunkBuffer buffer;
    ForEachRow(loops.folded, [&](const auto& at) {
      for (int64_t k = 0; k < loops.folded.inner(); ++k) {
        const int64_t offset = at[0] + k * loops.folded.inner_stride(0);
        folds.each(load.Read(x + offset * Size(), 1, n, buffer), n, sums);
      }
    });
  }

  // One output is made of elements that lie together.
  void FoldOne(const std::byte* x, std::byte* sum) const {
    const int64_t step = loops.folded.inner_stride(0);
    const int64_t n = loops.folded.inner();
    const bool whole = load.copies() && step == 1;
    if (whole && loops.folded.axes == 1 && n > 0) {
      folds.one(x, n, sum);
      return;
    }
    ChunkBuffer buffer;
    ForEachRow(loops.folded, [&](const auto& at) {
      const std::byte* row = x + at[0] * Size();
      if (whole) {
        folds.one(row, n, sum);
        return;
      }
      for (int64_t done = 0; done < n;) {
        const int64_t part = std::min(n - done, kChunk);
        folds.one(load.Read(row + done * step * Size(), step, part, buffer),
                  part, sum);
        done += part;
      }
    });
  }

  // `n` outputs of one row of `loops.kept`, whose first element is at `x`.
  void Fold(const std::byte* x, int64_t n, std::byte* sums) const {
    const int64_t step = loops.kept.inner_stride(1);
    if (step == 1 && loops.kept.inner() > 1) {
      FoldRows(x, n, sums);
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      FoldOne(x + i * step * Size(), sums + i * int64_t{kSumSize});
    }
  }

  void Run(const KernelArgs& args) const {
    const StridedLoop& kept = loops.kept;
    const int64_t step = kept.inner_stride(1);
    const auto size_out = static_cast<int64_t>(store.to_size());
    ChunkBuffer sums;
    ForEachRow(kept, [&](const auto& at) {
      for (int64_t done = 0; done < kept.inner();) {
        const int64_t n = std::min(kept.inner() - done, kChunk);
        for (int64_t i = 0; i < n; ++i) {
          std::memcpy(sums.data() + i * int64_t{kSumSize}, initial.data(),
                      kSumSize);
        }
        if (!loops.folded.empty) {  // else there is no input to point into
          Fold(args.inputs[0] + (at[1] + done * step) * Size(), n, sums.data());
        }
        if (finish != nullptr) finish(sums.data(), n, loops.count);
        store.Scatter(sums.data(), args.outputs[0] + (at[0] + done) * size_out,
                      1, n);
        done += n;
      }
    });
  }

  int64_t Size() const { return static_cast<int64_t>(load.from_size()); }
};

// The fold, its start and its end; UNIMPLEMENTED if `op` is no reduction.
absl::Status SetFolds(absl::string_view op, DType dtype, Reduction& reduction) {
  const DType carrier = CarrierOf(dtype);
  const bool roots = op == "ReduceL2" || op == "ReduceLogSum";
  const DType folded = ComputeTypeOf(dtype) == DType::kFp32 ? DType::kFp32
                       : roots                              ? DType::kFp64
                                                            : carrier;
  reduction.folded = folded;
  if (op == "ReduceSum" || op == "ReduceMean" || op == "ReduceLogSum") {
    reduction.folds = FoldsOf<AddFn>(folded);
    if (op == "ReduceMean") reduction.finish = MeanOf(carrier);
    if (op == "ReduceLogSum") reduction.finish = Logarithm;
  } else if (op == "ReduceSumSquare" || op == "ReduceL2") {
    reduction.folds = FoldsOf<AddSquareFn>(folded);
    if (op == "ReduceL2") reduction.finish = SquareRoot;
  } else if (op == "ReduceL1") {
    reduction.folds = FoldsOf<AddAbsFn>(folded);
  } else if (op == "ReduceProd") {
    reduction.folds = FoldsOf<MulFn>(folded);
    reduction.initial =
        carrier == DType::kFp64 ? BytesOf(1.0) : BytesOf(uint64_t{1});
  } else if (op == "ReduceMax") {
    reduction.folds = FoldsOf<MaxFn>(folded);
    REPRISE_ASSIGN_OR_RETURN(reduction.initial, ExtremeOf(dtype, false));
  } else if (op == "ReduceMin") {
    reduction.folds = FoldsOf<MinFn>(folded);
    REPRISE_ASSIGN_OR_RETURN(reduction.initial, ExtremeOf(dtype, true));
  } else {
    return ops::NotRunHere(absl::StrCat("no kernel for ", op));
  }
  return absl::OkStatus();
}

// log(sum(exp(x))) without overflow needs the maximum first.
struct LogSumExp {
  ReduceLoops loops;
  Converter load;   // to float or double
  Converter store;  // from double
  bool floats = false;

  // fold(result so far, element) over what goes, from `start` on.
  template <typename T, typename Fn>
  double Fold(const std::byte* x, double start, Fn fold) const {
    const auto size = static_cast<int64_t>(load.from_size());
    const int64_t step = loops.folded.inner_stride(0);
    double result = start;
    ChunkBuffer buffer;
    ForEachRow(loops.folded, [&](const auto& at) {
      for (int64_t done = 0; done < loops.folded.inner();) {
        const int64_t n = std::min(loops.folded.inner() - done, kChunk);
        const auto* values = reinterpret_cast<const T*>(
            load.Read(x + (at[0] + done * step) * size, step, n, buffer));
        double part = result;
        for (int64_t i = 0; i < n; ++i) {
          part = fold(part, static_cast<double>(values[i]));
        }
        result = part;
        done += n;
      }
    });
    return result;
  }

  template <typename T>
  double Of(const std::byte* x) const {
    const double max =
        Fold<T>(x, -std::numeric_limits<double>::infinity(), MaxFn());
    const double shift = std::isfinite(max) ? max : 0;
    const double sum = Fold<T>(x, 0, [shift](double so_far, double v) {
      return so_far + std::exp(v - shift);
    });
    return std::log(sum) + shift;
  }

  void Run(const KernelArgs& args) const {
    const StridedLoop& kept = loops.kept;
    const auto size = static_cast<int64_t>(load.from_size());
    const auto size_out = static_cast<int64_t>(store.to_size());
    ForEachRow(kept, [&](const auto& at) {
      for (int64_t i = 0; i < kept.inner(); ++i) {
        double value = -std::numeric_limits<double>::infinity();
        if (!loops.folded.empty) {  // else there is no input to point into
          const std::byte* x =
              args.inputs[0] + (at[1] + i * kept.inner_stride(1)) * size;
          value = floats ? Of<float>(x) : Of<double>(x);
        }
        store.Scatter(reinterpret_cast<const std::byte*>(&value),
                      args.outputs[0] + (at[0] + i) * size_out, 1, 1);
      }
    });
  }
};

}  // namespace

absl::StatusOr<Kernel> MakeReduce(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::ReduceParams params,
                           ops::ReadReduce(request.view));
  const absl::string_view op = request.view.op();
  const DType dtype = request.view.dtype(0);
  if (params.axes.empty() && op != "ReduceSumSquare") return MakeCopy(request);
  if (dtype == DType::kString) return ops::NotRunHere("not run for BYTES");
  const ReduceLoops loops = MakeLoops(request.view.dims(0), params);
  if (op == "ReduceLogSumExp") {
    const bool floats = ComputeTypeOf(dtype) == DType::kFp32;
    const DType read = floats ? DType::kFp32 : DType::kFp64;
    const LogSumExp log{loops, Converter(dtype, read),
                        Converter(DType::kFp64, dtype), floats};
    return Kernel{[log](const KernelArgs& args) { log.Run(args); }};
  }
  Reduction reduction;
  reduction.loops = loops;
  REPRISE_RETURN_IF_ERROR(SetFolds(op, dtype, reduction));
  reduction.load = Converter(dtype, reduction.folded);
  reduction.store = Converter(CarrierOf(reduction.folded), dtype);
  return Kernel{[reduction](const KernelArgs& args) { reduction.Run(args); }};
}

}  // namespace reprise::cpu
