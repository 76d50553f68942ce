// A CUDA graph that has been captured: what one launch of a rung replays.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/handle.h"

namespace reprise::cuda {

// Both are kept: `graph` for dumps and node counts, `exec` to launch. What a
// captured graph names (arena, weights, modules, workspaces) outlives it.
struct CapturedGraph {
  UniqueHandle<CUgraph> graph;
  UniqueHandle<CUgraphExec> exec;  // dies first
  size_t nodes = 0;
};

// What must hold of a capture.
struct CaptureCheck {
  // Actions that are recorded: a graph with fewer nodes was captured somewhere
  // else than on this device's stream, or not at all.
  size_t least_nodes = 1;
};

// Records what `record` issues to `stream`, which is non-blocking and nobody
// else's, and makes a captured graph of it. Thread-local mode: other threads go
// on meanwhile. When this returns, the stream has left capture mode, whether or
// not it succeeded. `record` must not synchronise or allocate.
// FAILED_PRECONDITION: too few nodes, nodes that own memory, or recording took
// device memory, which a replay would then use unplanned; else as `record` or
// the driver says. Since other processes take memory too, `record` is called up
// to three times before the last of these is said.
absl::StatusOr<UniqueHandle<CUgraph>> Record(
    const CurrentContext& current, CUstream stream,
    absl::FunctionRef<absl::Status(CUstream)> record, const CaptureCheck& check,
    size_t* nodes);

// Instantiates `graph`; FAILED_PRECONDITION names the kind of the node at which
// the driver failed. Takes milliseconds of the driver's time.
absl::StatusOr<CapturedGraph> Instantiate(const CurrentContext& current,
                                          UniqueHandle<CUgraph> graph,
                                          size_t nodes);

}  // namespace reprise::cuda
