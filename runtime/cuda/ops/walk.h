// Walks over broadcast tensors, as kernels take them.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "runtime/cuda/kernels/params.h"
#include "runtime/tensor/shape.h"

namespace reprise::cuda {

// The strides, in elements, of a tensor of `dims` seen as `out`, numpy's
// broadcasting.
Dims BroadcastStrides(std::span<const int64_t> dims,
                      std::span<const int64_t> out);

// The walk over `dims` in row-major order, by at most
// Walk::kMaxOperands operands with a stride for each axis. Axes of
// length 1 are gone, and neighbours that every operand walks in one stride are
// merged. A step is a pack of `pack` elements where each operand has them
// together, or one for all, from aligned addresses on; else a single element.
// UNIMPLEMENTED if more axes than kernels::kMaxWalkAxes are left.
absl::StatusOr<kernels::Walk> MakeWalk(std::span<const int64_t> dims,
                                       std::span<const Dims> strides, int pack);
absl::StatusOr<kernels::ChainWalk> MakeChainWalk(std::span<const int64_t> dims,
                                                 std::span<const Dims> strides,
                                                 int pack);

}  // namespace reprise::cuda
