// Are the rows of a model independent of each other?
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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

struct SignatureOptions {
  // Symbols that the configuration fixes: their dims are not free.
  std::map<std::string, int64_t> fixed_dims;
  // False: the configuration says max_batch_size 0; axis 0 is an ordinary dim.
  bool allow_batch = true;
};

struct InferredSignature {
  Signature signature;  // max_batch is 1: the configuration decides it
  // Why the model is not batched; empty when it is, or was not to be.
  std::string not_batched;
};

// The signature that the graph itself implies. Batched if axis 0 of every input
// is free and FollowBatch agrees. A dim without a name is "<tensor>[<axis>]";
// names in outputs are those of input symbols with equal extents only where
// trial bindings say so, never because names agree. INVALID_ARGUMENT: an input
// without a shape, or a graph that cannot be bound at any trial extents.
absl::StatusOr<InferredSignature> InferSignature(
    const graph::Graph& graph, const SignatureOptions& options);

}  // namespace reprise::ops
