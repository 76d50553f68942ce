// One node run on host tensors: what constant folding computes with.
#pragma once

#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/ops/bound_graph.h"
#include "runtime/ops/node_view.h"
#include "runtime/tensor/host_tensor.h"

namespace reprise::cpu {

// Runs `view`'s node by its plain loop; an ops::Evaluate. Every input that
// exists must be a constant. UNIMPLEMENTED without a loop, for STRING, or if an
// input is not known; RESOURCE_EXHAUSTED never: the caller bounds the sizes.
absl::StatusOr<std::vector<HostTensor>> EvaluateNode(
    const ops::NodeView& view, std::span<const ops::TensorType> outputs);

}  // namespace reprise::cpu
