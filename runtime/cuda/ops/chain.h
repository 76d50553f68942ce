// Chains of element-wise nodes that become one kernel, written at load.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "runtime/cuda/kernels/params.h"
#include "runtime/cuda/lowering_context.h"
#include "runtime/cuda/ptx_chain.h"
#include "runtime/graph/graph.h"

namespace reprise::cuda {

// Nodes in the order of the graph; what all but the last make is read within
// the chain alone, and has the dims of what the last makes.
struct NodeChain {
  std::vector<int> nodes;
  Chain chain;
  std::vector<graph::ValueId> inputs;  // by the chain's index
  kernels::ChainWalk walk;
};

// As long as they can be, from the end of the graph on: a node is in one at
// most, and none has fewer than two. The nodes compute in floats of at most 32
// bits, and a walk over their operands is narrow.
std::vector<NodeChain> FindChains(const LoweringContext& context);

absl::Status LowerChain(LoweringContext& context, const NodeChain& chain);

}  // namespace reprise::cuda
