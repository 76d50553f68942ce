#include "runtime/cuda/ops/move.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/kernels/params.h"
#include "runtime/cuda/ops/launch.h"
#include "runtime/cuda/ops/walk.h"

namespace reprise::cuda {
namespace {

constexpr int64_t kWidest = 16;
// A tile of the transposition, and its block.
constexpr int64_t kTile = 32;
constexpr unsigned kTileRows = 8;
constexpr int64_t kMaxGridY = 65535;
// Below so many elements of a side, tiles are mostly empty.
constexpr int64_t kMinSide = 8;

using kernels::Walk;

// Elements of twice the bytes, if all of `walk` and the offsets go by pairs.
bool Widen(Walk& walk, Move& move) {
  const int inner = walk.axes - 1;
  if (move.element_bytes >= kWidest || walk.strides[0][inner] != 1 ||
      walk.strides[1][inner] != 1 || walk.dims[inner] % 2 != 0 ||
      move.from % 2 != 0 || move.to % 2 != 0) {
    return false;
  }
  for (int i = 0; i < inner; ++i) {
    if (walk.strides[0][i] % 2 != 0 || walk.strides[1][i] % 2 != 0) {
      return false;
    }
  }
  for (int i = 0; i < inner; ++i) {
    walk.strides[0][i] /= 2;
    walk.strides[1][i] /= 2;
  }
  walk.dims[inner] /= 2;
  walk.count /= 2;
  walk.elements /= 2;
  move.from /= 2;
  move.to /= 2;
  move.element_bytes *= 2;
  return true;
}

// [batch, rows, columns] -> [batch, columns, rows], densely on both sides?
std::optional<kernels::TransposeParams> TransposeOf(const Walk& walk,
                                                    const Move& move) {
  if (walk.axes < 2 || walk.axes > 3 || move.from != 0 || move.to != 0 ||
      move.element_bytes > 8) {
    return std::nullopt;
  }
  // The walk is in the order of the output: columns, then rows.
  const int row = walk.axes - 1;
  const int column = walk.axes - 2;
  kernels::TransposeParams params{.batch = walk.axes == 3 ? walk.dims[0] : 1,
                                  .rows = walk.dims[row],
                                  .columns = walk.dims[column]};
  const int64_t size = params.rows * params.columns;
  const bool turned =
      walk.strides[0][row] == params.columns && walk.strides[0][column] == 1 &&
      walk.strides[1][row] == 1 && walk.strides[1][column] == params.rows;
  const bool dense = walk.axes == 2 ||
                     (walk.strides[0][0] == size && walk.strides[1][0] == size);
  if (!turned || !dense || std::min(params.rows, params.columns) < kMinSide) {
    return std::nullopt;
  }
  return params;
}

KernelLaunch TransposeLaunch(const kernels::TransposeParams& params,
                             int64_t element_bytes, plan::BufferId from,
                             plan::BufferId to) {
  const int64_t tiles =
      CeilDiv(params.rows, kTile) * CeilDiv(params.columns, kTile);
  return {
      .entry = absl::StrCat("reprise_transpose_", BytesSuffix(element_bytes)),
      .grid = {static_cast<unsigned>(tiles),
               static_cast<unsigned>(std::min(params.batch, kMaxGridY))},
      .block = {static_cast<unsigned>(kTile), kTileRows},
      .arguments = {Place{from}, Place{to}, ByValue(params)}};
}

}  // namespace

absl::StatusOr<std::optional<Action>> MoveAction(const Move& request,
                                                 plan::BufferId from,
                                                 plan::BufferId to) {
  Move move = request;
  if (ElementCount(move.dims) == 0) return std::nullopt;
  const Dims strides[] = {move.from_strides, move.to_strides};
  REPRISE_ASSIGN_OR_RETURN(Walk walk, MakeWalk(move.dims, strides, 1));
  const bool one = walk.elements == 1;
  if (walk.axes == 1 &&
      (one || (walk.strides[0][0] == 1 && walk.strides[1][0] == 1))) {
    return Copy{{from, move.from * move.element_bytes},
                {to, move.to * move.element_bytes},
                walk.elements * move.element_bytes};
  }
  if (const auto transpose = TransposeOf(walk, move); transpose.has_value()) {
    return TransposeLaunch(*transpose, move.element_bytes, from, to);
  }
  while (Widen(walk, move)) {
  }
  return FlatLaunch(
      absl::StrCat("reprise_move_", BytesSuffix(move.element_bytes)),
      walk.count,
      {Place{from, move.from * move.element_bytes},
       Place{to, move.to * move.element_bytes}, ByValue(walk)});
}

}  // namespace reprise::cuda
