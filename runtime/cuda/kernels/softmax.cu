// Softmax and LogSoftmax along an axis. Reference: runtime/cpu/ops/softmax.cc.
#include "runtime/cuda/kernels/functions.h"
#include "runtime/cuda/kernels/launch.h"
#include "runtime/cuda/kernels/params.h"
#include "runtime/cuda/kernels/team.h"

namespace reprise::kernels {
namespace {

template <typename T>
__device__ void SoftmaxTeam(const T* x, T* y, const SoftmaxParams& params) {
  using C = Compute<T>;
  const int64_t row = TeamIndex();
  if (row >= params.outer) return;
  x += row * params.length;
  y += row * params.length;
  C max = -static_cast<C>(INFINITY);
  for (int64_t i = threadIdx.x; i < params.length; i += blockDim.x) {
    max = Max::Apply(max, Load(x[i]));
  }
  max = TeamFold<Max>(max);
  C sum = 0;
  for (int64_t i = threadIdx.x; i < params.length; i += blockDim.x) {
    sum += std::exp(Load(x[i]) - max);
  }
  sum = TeamFold<Add>(sum);
  const C log_sum = std::log(sum);
  for (int64_t i = threadIdx.x; i < params.length; i += blockDim.x) {
    const C shifted = Load(x[i]) - max;
    y[i] = Convert<T>(params.log != 0 ? shifted - log_sum
                                      : std::exp(shifted) / sum);
  }
}

template <typename T>
__device__ void SoftmaxThread(const T* x, T* y, const SoftmaxParams& params) {
  using C = Compute<T>;
  const int64_t run = ThreadIndex();
  if (run >= params.outer * params.inner) return;
  const int64_t start =
      run / params.inner * params.length * params.inner + run % params.inner;
  const int64_t end = start + params.length * params.inner;
  C max = -static_cast<C>(INFINITY);
  for (int64_t i = start; i < end; i += params.inner) {
    max = Max::Apply(max, Load(x[i]));
  }
  C sum = 0;
  for (int64_t i = start; i < end; i += params.inner) {
    sum += std::exp(Load(x[i]) - max);
  }
  const C log_sum = std::log(sum);
  for (int64_t i = start; i < end; i += params.inner) {
    const C shifted = Load(x[i]) - max;
    y[i] = Convert<T>(params.log != 0 ? shifted - log_sum
                                      : std::exp(shifted) / sum);
  }
}

}  // namespace
}  // namespace reprise::kernels

using namespace reprise::kernels;

// _team: where inner is 1, a team for each of the `outer` rows. _thread: a
// thread for each run along the axis; neighbours read neighbours.
#define REPRISE_ENTRY(suffix, T)                                              \
  extern "C" __global__ void __launch_bounds__(kMaxTeam)                      \
      reprise_softmax_team_##suffix(const T* x, T* y, SoftmaxParams params) { \
    SoftmaxTeam(x, y, params);                                                \
  }                                                                           \
  extern "C" __global__ void __launch_bounds__(kThreads)                      \
      reprise_softmax_thread_##suffix(const T* x, T* y,                       \
                                      SoftmaxParams params) {                 \
    SoftmaxThread(x, y, params);                                              \
  }
REPRISE_FLOATS(REPRISE_ENTRY)
