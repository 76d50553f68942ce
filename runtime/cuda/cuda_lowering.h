// A bound graph to the launches of a program, by ordered lists of
// implementations.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/cuda/lowering_context.h"
#include "runtime/cuda/program.h"
#include "runtime/cuda/weights.h"
#include "runtime/ops/bound_graph.h"

namespace reprise::cuda {

// Actions for every live node, with memory assigned and checked; constants are
// added to `weights`. Every address in the arena is a multiple of
// plan::kArenaAlignment, which the kernels' loads of 16 bytes rely on; so must
// the arena, the slot's buffers and the slab of weights be.
// UNIMPLEMENTED names a node that nothing takes; INVALID_ARGUMENT as the
// readers of `ops`, with the node named; RESOURCE_EXHAUSTED as CudaWeights.
//
// Threads: any, as `weights` allows.
absl::StatusOr<Program> Lower(const ops::BoundGraph& bound,
                              CudaWeights& weights,
                              const LoweringOptions& options);

// The operators that have an implementation, sorted, once each: what a suite of
// tests must cover.
std::vector<absl::string_view> LoweredOperators();

}  // namespace reprise::cuda
