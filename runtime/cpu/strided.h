// Walks over tensors whose operands have strides of their own.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "runtime/tensor/shape.h"

namespace reprise::cpu {

// After a Tile has doubled ops::kMaxRank. No walk is made for more: plain
// kernels refuse such nodes.
inline constexpr int kMaxAxes = 16;
inline constexpr int kMaxOperands = 4;

// Axes of length 1 are gone, and neighbours that every operand walks in one
// stride are merged; at least one axis is left. Strides are in elements.
struct StridedLoop {
  int axes = 0;
  int operands = 0;
  bool empty = false;  // an axis has length 0
  std::array<int64_t, kMaxAxes> dims{};
  std::array<std::array<int64_t, kMaxAxes>, kMaxOperands> strides{};

  int64_t inner() const { return dims[axes - 1]; }
  int64_t inner_stride(int operand) const { return strides[operand][axes - 1]; }
};

// `strides[k]` are operand k's, one for each of `dims`; at most kMaxAxes dims.
StridedLoop MakeLoop(std::span<const int64_t> dims,
                     std::span<const Dims> strides);

// The strides of a tensor of `dims` seen as `out`, numpy's broadcasting.
Dims BroadcastStrides(std::span<const int64_t> dims,
                      std::span<const int64_t> out);

// Where a walk over the rows of a loop is: `at[k]` is the offset of operand k.
struct RowCursor {
  std::array<int64_t, kMaxAxes> index{};
  std::array<int64_t, kMaxOperands> at{};
};

// Moves on to the next row; false after the last one. Not inlined: there are
// hundreds of kernels that walk.
bool NextRow(const StridedLoop& loop, RowCursor& cursor);

// fn(at) for every combination of all axes but the innermost.
template <typename Fn>
void ForEachRow(const StridedLoop& loop, Fn fn) {
  if (loop.empty) return;
  RowCursor cursor;
  do {
    fn(cursor.at);
  } while (NextRow(loop, cursor));
}

// Copies along the loop: operand 0 is what is written, operand 1 what is read.
template <typename T>
void CopyStrided(const StridedLoop& loop, const T* from, T* to) {
  const int64_t n = loop.empty ? 0 : loop.inner();
  const int64_t step_to = loop.inner_stride(0);
  const int64_t step_from = loop.inner_stride(1);
  ForEachRow(loop, [&](const auto& at) {
    const T* source = from + at[1];
    T* target = to + at[0];
    if (step_to == 1 && step_from == 1) {
      std::copy_n(source, n, target);
    } else if (step_to == 1 && step_from == 0) {
      std::fill_n(target, n, *source);
    } else {
      for (int64_t i = 0; i < n; ++i) {
        target[i * step_to] = source[i * step_from];
      }
    }
  });
}

}  // namespace reprise::cpu
