// Nodes whose inputs are all constants become constants.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "runtime/graph/graph.h"
#include "runtime/ops/node_view.h"
#include "runtime/tensor/host_tensor.h"

namespace reprise::ops {

struct FoldOptions {
  // Bytes of folded values alive at a time, the ones that stay included. A
  // graph that needs more is refused: RESOURCE_EXHAUSTED, with the node.
  int64_t max_total_bytes = int64_t{1} << 30;
  // A single value above this is left to be computed when the graph runs.
  int64_t max_value_bytes = int64_t{1} << 29;
};

struct FoldResult {
  int folded = 0;  // nodes that are gone
  int64_t bytes = 0;
};

// Runs one node on the host: `view` has every input that exists as a constant,
// `outputs` is the type of each output. UNIMPLEMENTED leaves the node in the
// graph; any other error ends the folding.
using Evaluate = absl::FunctionRef<absl::StatusOr<std::vector<HostTensor>>(
    const NodeView& view, std::span<const TensorType> outputs)>;

// Replaces what can be computed now and drops nodes that nobody reads.
// Constants that lose their last reader are dropped from the graph.
absl::StatusOr<FoldResult> FoldConstants(graph::Graph& graph,
                                         const FoldOptions& options,
                                         Evaluate evaluate);

}  // namespace reprise::ops
