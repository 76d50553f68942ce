// Are the rows of a model independent of each other?
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "runtime/graph/graph.h"
#include "runtime/tensor/signature.h"

namespace reprise::ops {

// Follows the batch from axis 0 of every input through each node to axis 0 of
// every output, on the graph bound at two different numbers of rows.
// FAILED_PRECONDITION, with the node and the reason, if an operator reduces,
// normalises, sorts, indexes or merges across the batch, or an output does not
// carry it on axis 0. INVALID_ARGUMENT and UNIMPLEMENTED as Bind.
absl::Status FollowBatch(const graph::Graph& graph, const Signature& signature,
                         std::span<const int64_t> variant);

}  // namespace reprise::ops
