// Reductions over any axes. Reference: runtime/cpu/ops/reduce.cc.
#include "runtime/cuda/kernels/functions.h"
#include "runtime/cuda/kernels/launch.h"
#include "runtime/cuda/kernels/params.h"
#include "runtime/cuda/kernels/team.h"
#include "runtime/cuda/kernels/walk.h"

namespace reprise::kernels {
namespace {

// What elements of T are summed in: integers wrap in 64 bits.
template <typename T>
using SumOf = typename std::conditional<
    kIsFloating<Compute<T>>, Compute<T>,
    typename std::conditional<std::is_signed<T>::value, int64_t,
                              uint64_t>::type>::type;

// Each has where a sum S of elements of T starts, what an element adds to it,
// how two are joined, and what becomes of it.
struct SumFold {
  template <typename T, typename S>
  static __device__ S Start() {
    return S{0};
  }
  template <typename S>
  static __device__ S Map(S x) {
    return x;
  }
  template <typename S>
  static __device__ S Apply(S a, S b) {
    return Add::Apply(a, b);
  }
  template <typename S>
  static __device__ S Finish(S sum, int64_t) {
    return sum;
  }
};
struct MeanFold : SumFold {
  template <typename S>
  static __device__ S Finish(S sum, int64_t count) {
    return Div::Apply(sum, static_cast<S>(count));
  }
};
struct LogSumFold : SumFold {
  template <typename S>
  static __device__ S Finish(S sum, int64_t) {
    return std::log(sum);
  }
};
struct L1Fold : SumFold {
  template <typename S>
  static __device__ S Map(S x) {
    return Abs::Apply(x, x, x);
  }
};
struct SumSquareFold : SumFold {
  template <typename S>
  static __device__ S Map(S x) {
    return Mul::Apply(x, x);
  }
};
struct L2Fold : SumSquareFold {
  template <typename S>
  static __device__ S Finish(S sum, int64_t) {
    return std::sqrt(sum);
  }
};
struct ProdFold : SumFold {
  template <typename T, typename S>
  static __device__ S Start() {
    return S{1};
  }
  template <typename S>
  static __device__ S Apply(S a, S b) {
    return Mul::Apply(a, b);
  }
};
struct MaxFold : SumFold {
  template <typename T, typename S>
  static __device__ S Start() {
    if constexpr (kIsFloating<S>) return -static_cast<S>(INFINITY);
    if constexpr (!kIsFloating<S>) return static_cast<S>(kLeast<T>);
  }
  template <typename S>
  static __device__ S Apply(S a, S b) {
    return Max::Apply(a, b);
  }
};
struct MinFold : SumFold {
  template <typename T, typename S>
  static __device__ S Start() {
    if constexpr (kIsFloating<S>) return static_cast<S>(INFINITY);
    if constexpr (!kIsFloating<S>) return static_cast<S>(kLargest<T>);
  }
  template <typename S>
  static __device__ S Apply(S a, S b) {
    return Min::Apply(a, b);
  }
};

// Whoever shares a sum: a team, or a thread on its own.
struct Team {
  static __device__ int64_t Output() { return TeamIndex(); }
  static __device__ int64_t First() { return threadIdx.x; }
  static __device__ int64_t Step() { return blockDim.x; }
  static __device__ bool Writes() { return threadIdx.x == 0; }
  template <typename Fold, typename S>
  static __device__ S Join(S sum) {
    return TeamFold<Fold>(sum);
  }
};
struct Alone {
  static __device__ int64_t Output() { return ThreadIndex(); }
  static __device__ int64_t First() { return 0; }
  static __device__ int64_t Step() { return 1; }
  static __device__ bool Writes() { return true; }
  template <typename Fold, typename S>
  static __device__ S Join(S sum) {
    return sum;
  }
};

template <typename T>
__device__ SumOf<T> Element(const T* x, const Walk& folded, int64_t i) {
  const int64_t at =
      folded.axes == 1 ? i * folded.strides[0][0] : WalkTo<1>(folded, i).at[0];
  return static_cast<SumOf<T>>(Load(x[at]));
}

template <typename Fold, typename Who, typename T>
__device__ void Reduce(const T* x, T* y, const ReduceParams& params) {
  using S = SumOf<T>;
  const int64_t output = Who::Output();
  if (output >= params.kept.count) return;
  x += WalkTo<1>(params.kept, output).at[0];
  S sum = Fold::template Start<T, S>();
  for (int64_t i = Who::First(); i < params.folded.count; i += Who::Step()) {
    sum = Fold::Apply(sum, Fold::Map(Element(x, params.folded, i)));
  }
  sum = Fold::Finish(Who::template Join<Fold>(sum), params.folded.count);
  if (Who::Writes()) y[output] = Convert<T>(sum);
}

// log(sum(exp(x))) without overflow needs the maximum first.
template <typename Who, typename T>
__device__ void ReduceLogSumExp(const T* x, T* y, const ReduceParams& params) {
  using S = SumOf<T>;
  const int64_t output = Who::Output();
  if (output >= params.kept.count) return;
  x += WalkTo<1>(params.kept, output).at[0];
  const S infinity = static_cast<S>(INFINITY);
  S max = -infinity;
  for (int64_t i = Who::First(); i < params.folded.count; i += Who::Step()) {
    max = Max::Apply(max, Element(x, params.folded, i));
  }
  max = Who::template Join<Max>(max);
  const S shift = max > -infinity && max < infinity ? max : S{0};
  S sum = 0;
  for (int64_t i = Who::First(); i < params.folded.count; i += Who::Step()) {
    sum += std::exp(Element(x, params.folded, i) - shift);
  }
  sum = Who::template Join<Add>(sum);
  if (Who::Writes()) y[output] = Convert<T>(std::log(sum) + shift);
}

}  // namespace
}  // namespace reprise::kernels

using namespace reprise::kernels;

// y[i] = the fold of the elements of x that go into output i. _team: a team for
// each output; _thread: a thread for each, where neighbours read neighbours.
#define REPRISE_ENTRY(name, body, suffix, T)                                  \
  extern "C" __global__ void __launch_bounds__(kMaxTeam)                      \
      reprise_##name##_team_##suffix(const T* x, T* y, ReduceParams params) { \
    body(Team);                                                               \
  }                                                                           \
  extern "C" __global__ void __launch_bounds__(kThreads)                      \
      reprise_##name##_thread_##suffix(const T* x, T* y,                      \
                                       ReduceParams params) {                 \
    body(Alone);                                                              \
  }
#define REPRISE_SUM(Who) Reduce<SumFold, Who>(x, y, params)
#define REPRISE_MEAN(Who) Reduce<MeanFold, Who>(x, y, params)
#define REPRISE_L1(Who) Reduce<L1Fold, Who>(x, y, params)
#define REPRISE_L2(Who) Reduce<L2Fold, Who>(x, y, params)
#define REPRISE_SUMSQUARE(Who) Reduce<SumSquareFold, Who>(x, y, params)
#define REPRISE_LOGSUM(Who) Reduce<LogSumFold, Who>(x, y, params)
#define REPRISE_PROD(Who) Reduce<ProdFold, Who>(x, y, params)
#define REPRISE_MAX(Who) Reduce<MaxFold, Who>(x, y, params)
#define REPRISE_MIN(Who) Reduce<MinFold, Who>(x, y, params)
#define REPRISE_LOGSUMEXP(Who) ReduceLogSumExp<Who>(x, y, params)

#define REPRISE_NUMBER_ENTRIES(suffix, T)                      \
  REPRISE_ENTRY(reducesum, REPRISE_SUM, suffix, T)             \
  REPRISE_ENTRY(reducemean, REPRISE_MEAN, suffix, T)           \
  REPRISE_ENTRY(reducel1, REPRISE_L1, suffix, T)               \
  REPRISE_ENTRY(reducesumsquare, REPRISE_SUMSQUARE, suffix, T) \
  REPRISE_ENTRY(reduceprod, REPRISE_PROD, suffix, T)           \
  REPRISE_ENTRY(reducemax, REPRISE_MAX, suffix, T)             \
  REPRISE_ENTRY(reducemin, REPRISE_MIN, suffix, T)
#define REPRISE_FLOAT_ENTRIES(suffix, T)                 \
  REPRISE_ENTRY(reducel2, REPRISE_L2, suffix, T)         \
  REPRISE_ENTRY(reducelogsum, REPRISE_LOGSUM, suffix, T) \
  REPRISE_ENTRY(reducelogsumexp, REPRISE_LOGSUMEXP, suffix, T)
REPRISE_FLOATS(REPRISE_NUMBER_ENTRIES)
REPRISE_FLOATS(REPRISE_FLOAT_ENTRIES)
REPRISE_NUMBER_ENTRIES(i32, int32_t)
REPRISE_NUMBER_ENTRIES(i64, int64_t)
