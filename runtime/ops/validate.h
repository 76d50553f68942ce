// Is every node of a graph one that Reprise knows, and well formed?
#pragma once

#include "absl/status/status.h"
#include "runtime/graph/graph.h"

namespace reprise::ops {

// UNIMPLEMENTED: an operator, domain or version that is not in the table
// ("unsupported operator domain::type"). INVALID_ARGUMENT: too few or too many
// inputs or outputs, a required input left out. Every error names the node.
absl::Status Validate(const graph::Graph& graph);

// STRING tensors may only pass through (Identity, Reshape, Flatten, Squeeze,
// Unsqueeze, Expand, Concat, Gather). UNIMPLEMENTED names the first other node
// that reads or makes one. Dtypes are followed from inputs and constants.
absl::Status CheckStrings(const graph::Graph& graph);

}  // namespace reprise::ops
