// Neighbouring nodes that a device can run as one.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/graph/graph.h"

namespace reprise::ops {

// One switch per fusion, so that a numeric difference can be bisected.
struct FuseOptions {
  bool batch_norm = true;  // Conv + BatchNormalization: into Conv's weights
  bool bias = true;        // Conv, Gemm, MatMul + Add of a constant per channel
  bool activation = true;  // the same + an activation (activation.h)
};

// One decision, for people: "conv1 + bn1: fused" or why not.
struct FuseNote {
  std::string node;      // NodeText of the main node
  std::string follower;  // NodeText of the node that was or was not taken in
  bool fused = false;
  std::string reason;  // empty when fused
};

// Rewrites the graph; call after FoldConstants. A fused Conv or Gemm has its
// bias as input 2, a fused MatMul too ([n], see matmul.h); activations are
// attributes (activation.h). A follower is taken in only when the value between
// has no other reader and is no output of the graph.
absl::StatusOr<std::vector<FuseNote>> Fuse(graph::Graph& graph,
                                           const FuseOptions& options);

}  // namespace reprise::ops
