// Elements, by their bytes, from one place to another.
// Reference: runtime/cpu/ops/layout.cc.
#include "runtime/cuda/kernels/elements.h"
#include "runtime/cuda/kernels/launch.h"
#include "runtime/cuda/kernels/walk.h"

namespace reprise::kernels {
namespace {

inline constexpr int kTile = 32;     // elements of a side
inline constexpr int kTileRows = 8;  // threads of a block, the other way

template <typename T>
__device__ void Move(const T* x, T* y, const Walk& walk) {
  const int64_t step = ThreadIndex();
  if (step >= walk.count) return;
  const Offsets<2> offsets = WalkTo<2>(walk, step);
  y[offsets.at[1]] = x[offsets.at[0]];
}

// By tiles in shared memory, so that both sides are read and written along
// their rows.
template <typename T>
__device__ void Transpose(const T* x, T* y, const TransposeParams& params) {
  __shared__ T tile[kTile][kTile + 1];
  const int64_t across = (params.columns + kTile - 1) / kTile;
  const int64_t row = blockIdx.x / across * kTile;
  const int64_t column = blockIdx.x % across * kTile;
  const int64_t size = params.rows * params.columns;
  for (int64_t k = blockIdx.y; k < params.batch; k += gridDim.y) {
    for (int i = threadIdx.y; i < kTile; i += kTileRows) {
      const int64_t r = row + i;
      const int64_t c = column + threadIdx.x;
      if (r < params.rows && c < params.columns) {
        tile[i][threadIdx.x] = x[k * size + r * params.columns + c];
      }
    }
    __syncthreads();
    for (int i = threadIdx.y; i < kTile; i += kTileRows) {
      const int64_t c = column + i;
      const int64_t r = row + threadIdx.x;
      if (r < params.rows && c < params.columns) {
        y[k * size + c * params.rows + r] = tile[threadIdx.x][i];
      }
    }
    __syncthreads();
  }
}

template <typename T>
__device__ void Fill(T* y, const FillParams& params) {
  const int64_t i = ThreadIndex();
  if (i < params.elements) y[i] = static_cast<T>(params.bits);
}

}  // namespace
}  // namespace reprise::kernels

using namespace reprise::kernels;

// y[...] = x[...] along a walk whose operands are x and y; a thread for each
// step, which is one element.
#define REPRISE_MOVE(suffix, T)                            \
  extern "C" __global__ void __launch_bounds__(kThreads)   \
      reprise_move_##suffix(const T* x, T* y, Walk walk) { \
    Move(x, y, walk);                                      \
  }
REPRISE_BYTES(REPRISE_MOVE)

// y[k, c, r] = x[k, r, c]. Blocks of 32 x 8 threads, grid.x a block for each
// tile of 32 x 32, rows of tiles one after the other; any grid.y.
#define REPRISE_TRANSPOSE(suffix, T)                                         \
  extern "C" __global__ void __launch_bounds__(kTile* kTileRows)             \
      reprise_transpose_##suffix(const T* x, T* y, TransposeParams params) { \
    Transpose(x, y, params);                                                 \
  }
REPRISE_TRANSPOSE(b1, uint8_t)
REPRISE_TRANSPOSE(b2, uint16_t)
REPRISE_TRANSPOSE(b4, uint32_t)
REPRISE_TRANSPOSE(b8, uint64_t)

// y[i] = the element whose bytes are given; a thread for each.
#define REPRISE_FILL(suffix, T)                          \
  extern "C" __global__ void __launch_bounds__(kThreads) \
      reprise_fill_##suffix(T* y, FillParams params) {   \
    Fill(y, params);                                     \
  }
REPRISE_FILL(b1, uint8_t)
REPRISE_FILL(b2, uint16_t)
REPRISE_FILL(b4, uint32_t)
REPRISE_FILL(b8, uint64_t)
