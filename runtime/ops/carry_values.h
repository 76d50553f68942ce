// Computes the small integers that shapes are made of.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/ops/node_view.h"
#include "runtime/tensor/host_tensor.h"

namespace reprise::ops {

// Values above this many elements are not carried through shape inference.
inline constexpr int64_t kMaxCarriedElements = 1024;

// The outputs of `view`, whose types are `outputs`, where they can be known
// before the graph runs: Shape and Size of any input, and the operators that
// compute shapes when all their inputs are known. BOOL, INT32, INT64 and FP32
// only. Empty when the node is not one of those: never an error for that.
absl::StatusOr<std::vector<HostTensor>> CarryValues(
    const NodeView& view, std::span<const TensorType> outputs);

}  // namespace reprise::ops
