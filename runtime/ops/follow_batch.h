// Are the rows of a model independent of each other?
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "runtime/graph/graph.h"
#include "runtime/tensor/signature.h"

namespace reprise::ops {

// Follows the batch from axis 0 of every input through each node to axis 0 of
// every output, on the graph bound at 2 rows and at each of 3 and `rows`: what
// is known before the graph runs may change at any number of them.
// FAILED_PRECONDITION, with the node and the reason, if an operator reduces,
// normalises, sorts, indexes or merges across the batch, or an output does not
// carry it on axis 0. INVALID_ARGUMENT and UNIMPLEMENTED as Bind.
absl::Status FollowBatch(const graph::Graph& graph, const Signature& signature,
                         std::span<const int64_t> variant,
                         std::span<const int> rows);

// The same where nobody has said yet how large batches will be: at one row, at
// usual sizes, and at so many rows that no cut at a fixed position survives.
absl::Status FollowBatch(const graph::Graph& graph, const Signature& signature,
                         std::span<const int64_t> variant);

}  // namespace reprise::ops
