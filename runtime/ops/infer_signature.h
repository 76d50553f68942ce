// The signature that a graph itself implies.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/graph/graph.h"
#include "runtime/tensor/signature.h"

namespace reprise::ops {

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

// Batched if axis 0 of every input is free and FollowBatch agrees. A free dim
// without a name is "<tensor>[<axis>]". The graph is bound at trial extents: a
// dim of an output is free if it changes with a free dim of the inputs, and
// bears that one's name if it equals it each time; names that inputs and
// outputs share in the file prove nothing. INVALID_ARGUMENT: an input without
// declared dims, or a graph that binds at no trial extents (fixing dims in the
// configuration helps); UNIMPLEMENTED as Bind.
absl::StatusOr<InferredSignature> InferSignature(
    const graph::Graph& graph, const SignatureOptions& options);

}  // namespace reprise::ops
