// Operators that move the elements of small values without computing on them.
#pragma once

#include <span>

#include "absl/status/statusor.h"
#include "runtime/ops/carry_numbers.h"
#include "runtime/ops/node_view.h"

namespace reprise::ops {

// Each takes a node whose inputs are all known, and the type of its output.

// Reshape, Flatten, Squeeze, Unsqueeze, Identity: the same bytes.
absl::StatusOr<Tensors> CarryReshape(const NodeView& view,
                                     const TensorType& out);
absl::StatusOr<Tensors> CarryExpand(const NodeView& view,
                                    const TensorType& out);
absl::StatusOr<Tensors> CarrySlice(const NodeView& view, const TensorType& out);
absl::StatusOr<Tensors> CarrySplit(const NodeView& view,
                                   std::span<const TensorType> outputs);
absl::StatusOr<Tensors> CarryTranspose(const NodeView& view,
                                       const TensorType& out);
absl::StatusOr<Tensors> CarryConcat(const NodeView& view,
                                    const TensorType& type);
// INVALID_ARGUMENT if an index is out of range.
absl::StatusOr<Tensors> CarryGather(const NodeView& view,
                                    const TensorType& out);

}  // namespace reprise::ops
