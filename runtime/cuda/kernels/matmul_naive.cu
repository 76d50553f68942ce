// Matrix products without a library, in tiles of 16 x 16, and what follows a
// product. Reference: runtime/cpu/ops/matmul.cc.
#include "runtime/cuda/kernels/activation.h"
#include "runtime/cuda/kernels/launch.h"
#include "runtime/cuda/kernels/walk.h"

namespace reprise::kernels {
namespace {

inline constexpr int kTile = 16;

// What sums of products of T are kept in: integers wrap as their own type.
template <typename T>
using SumOf =
    typename std::conditional<std::is_integral<T>::value, T, Compute<T>>::type;

// A number times one of Gemm's factors; an integer is clamped to its type.
template <typename C>
__device__ C Scaled(float factor, C value) {
  if constexpr (kIsFloating<C>) {
    return static_cast<C>(factor) * value;
  } else {
    if (!(factor < 1) && !(factor > 1)) return value;
    return Clamped<C>(static_cast<double>(factor) * static_cast<double>(value));
  }
}

template <typename T>
__device__ T Finished(SumOf<T> product, const T* c, int64_t row, int64_t column,
                      const EpilogueParams& params) {
  SumOf<T> value = Scaled(params.alpha, product);
  if (c != nullptr) {
    const auto addend =
        Convert<SumOf<T>>(c[row * params.c_row + column * params.c_column]);
    value = Add::Apply(value, Scaled(params.beta, addend));
  }
  if constexpr (kIsFloating<SumOf<T>>) value = Activate(params, value);
  return Convert<T>(value);
}

// One tile of one product, whose threads all come here.
template <typename T>
__device__ SumOf<T> TileSum(const T* a, const T* b, int64_t row, int64_t column,
                            const MatMulParams& params) {
  using C = SumOf<T>;
  __shared__ C left[kTile][kTile];
  __shared__ C right[kTile][kTile + 1];
  C sum = 0;
  for (int64_t k = 0; k < params.k; k += kTile) {
    const int64_t a_k = k + threadIdx.x;
    const int64_t b_k = k + threadIdx.y;
    const bool a_in = row < params.epilogue.rows && a_k < params.k;
    const bool b_in = column < params.epilogue.columns && b_k < params.k;
    left[threadIdx.y][threadIdx.x] =
        a_in ? Convert<C>(a[row * params.a_row + a_k * params.a_column]) : C{0};
    right[threadIdx.y][threadIdx.x] =
        b_in ? Convert<C>(b[b_k * params.b_row + column * params.b_column])
             : C{0};
    __syncthreads();
    for (int i = 0; i < kTile; ++i) {
      sum = Add::Apply(sum,
                       Mul::Apply(left[threadIdx.y][i], right[i][threadIdx.x]));
    }
    __syncthreads();
  }
  return sum;
}

template <typename T>
__device__ void MatMul(const T* a, const T* b, const T* c, T* y,
                       const MatMulParams& params) {
  const EpilogueParams& epilogue = params.epilogue;
  const int64_t across = (epilogue.columns + kTile - 1) / kTile;
  const int64_t row = blockIdx.x / across * kTile + threadIdx.y;
  const int64_t column = blockIdx.x % across * kTile + threadIdx.x;
  for (int64_t k = blockIdx.y; k < params.batch.count; k += gridDim.y) {
    const Offsets<2> offsets = WalkTo<2>(params.batch, k);
    const SumOf<T> sum =
        TileSum(a + offsets.at[0], b + offsets.at[1], row, column, params);
    if (row < epilogue.rows && column < epilogue.columns) {
      y[(k * epilogue.rows + row) * epilogue.columns + column] =
          Finished(sum, c, row, column, epilogue);
    }
  }
}

template <typename T>
__device__ void Epilogue(T* y, const T* c, const EpilogueParams& params) {
  const int64_t i = ThreadIndex();
  if (i >= params.rows * params.columns) return;
  y[i] = Finished(Convert<SumOf<T>>(y[i]), c, i / params.columns,
                  i % params.columns, params);
}

}  // namespace
}  // namespace reprise::kernels

using namespace reprise::kernels;

// y = activation(alpha * a x b + beta * c), c null or the same for each product
// of the batch. Blocks of 16 x 16 threads, grid.x a block for each tile, rows
// of tiles one after the other; any grid.y.
#define REPRISE_MATMUL(suffix, T)                                             \
  extern "C" __global__ void __launch_bounds__(kTile* kTile)                  \
      reprise_matmul_naive_##suffix(const T* a, const T* b, const T* c, T* y, \
                                    MatMulParams params) {                    \
    MatMul(a, b, c, y, params);                                               \
  }
REPRISE_FLOATS(REPRISE_MATMUL)
REPRISE_MATMUL(i32, int32_t)
REPRISE_MATMUL(i64, int64_t)
REPRISE_MATMUL(u32, uint32_t)
REPRISE_MATMUL(u64, uint64_t)

// y = activation(alpha * y + beta * c), in place, c null or broadcast. A thread
// for each element.
#define REPRISE_EPILOGUE(suffix, T)                                        \
  extern "C" __global__ void __launch_bounds__(kThreads)                   \
      reprise_epilogue_##suffix(T* y, const T* c, EpilogueParams params) { \
    Epilogue(y, c, params);                                                \
  }
REPRISE_FLOATS(REPRISE_EPILOGUE)
