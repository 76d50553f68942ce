// How much there is to do in one run of a node.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "runtime/ops/bound_graph.h"
#include "runtime/ops/node_view.h"

namespace reprise::cpu {

// What a plain loop is given at most, in NodeWork's unit: minutes of one core.
// A run cannot be interrupted within a node, so a larger one would hold whoever
// loads the model for hours.
inline constexpr int64_t kMaxPlainWork = int64_t{1} << 37;
// The same for what a library computes on all cores.
inline constexpr int64_t kMaxLibraryWork = int64_t{1} << 47;

// a + b and a * b of numbers that are not negative, or the largest number.
int64_t AddWork(int64_t a, int64_t b);
int64_t MultiplyWork(int64_t a, int64_t b);

// Roughly the multiplications and moves of one run: the elements of the first
// of `outputs`, times what is behind each of them.
int64_t NodeWork(const ops::NodeView& view,
                 std::span<const ops::TensorType> outputs);

// RESOURCE_EXHAUSTED if that is more than `limit`.
absl::Status CheckWork(const ops::NodeView& view,
                       std::span<const ops::TensorType> outputs, int64_t limit);

}  // namespace reprise::cpu
