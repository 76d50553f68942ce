// y = (x - mean) / sqrt(variance + epsilon) * scale + bias, row by row; bias,
// mean and inverse may be null. A team for each row.
// Reference: runtime/cpu/ops/norm.cc.
#include "runtime/cuda/kernels/functions.h"
#include "runtime/cuda/kernels/params.h"
#include "runtime/cuda/kernels/team.h"

namespace reprise::kernels {
namespace {

template <typename T>
__device__ void LayerNorm(const T* x, const T* scale, const T* bias, T* y,
                          float* means, float* inverses,
                          const LayerNormParams& params) {
  using C = Compute<T>;
  const int64_t row = TeamIndex();
  if (row >= params.rows) return;
  x += row * params.length;
  y += row * params.length;
  const C count = static_cast<C>(params.length);
  C sum = 0;
  for (int64_t i = threadIdx.x; i < params.length; i += blockDim.x) {
    sum += Load(x[i]);
  }
  const C mean = TeamFold<Add>(sum) / count;
  C squares = 0;
  for (int64_t i = threadIdx.x; i < params.length; i += blockDim.x) {
    const C distance = Load(x[i]) - mean;
    squares += distance * distance;
  }
  const C variance = TeamFold<Add>(squares) / count;
  const C inverse = C{1} / std::sqrt(variance + static_cast<C>(params.epsilon));
  for (int64_t i = threadIdx.x; i < params.length; i += blockDim.x) {
    C value =
        (Load(x[i]) - mean) * inverse * Load(scale[i * params.scale_step]);
    if (bias != nullptr) value += Load(bias[i * params.bias_step]);
    y[i] = Convert<T>(value);
  }
  if (threadIdx.x == 0) {
    if (means != nullptr) means[row] = static_cast<float>(mean);
    if (inverses != nullptr) inverses[row] = static_cast<float>(inverse);
  }
}

}  // namespace
}  // namespace reprise::kernels

using namespace reprise::kernels;

#define REPRISE_ENTRY(suffix, T)                                             \
  extern "C" __global__ void __launch_bounds__(kMaxTeam)                     \
      reprise_layer_norm_##suffix(const T* x, const T* scale, const T* bias, \
                                  T* y, float* means, float* inverses,       \
                                  LayerNormParams params) {                  \
    LayerNorm(x, scale, bias, y, means, inverses, params);                   \
  }
REPRISE_FLOATS(REPRISE_ENTRY)
