// ONNX files as graphs.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/graph/graph.h"
#include "runtime/ops/bound_graph.h"

namespace reprise::onnx_import {

// Bounds on what a file may ask of us. All are checked before memory is taken.
struct ImportLimits {
  int64_t max_file_bytes = int64_t{2'147'483'647};  // protobuf's own bound
  int max_message_depth = 100;    // nesting of protobuf messages
  int max_graph_depth = 32;       // subgraphs in subgraphs
  int64_t max_nodes = 1'000'000;  // subgraphs included
  int64_t max_name_bytes = 4096;
  int64_t max_tensors = 4096;  // inputs, and outputs
  int max_rank = ops::kMaxRank;
  int64_t max_constant_bytes = int64_t{16} << 30;  // all of them together
};

struct ImportOptions {
  ImportLimits limits;
  // External data is looked for below this folder; empty: it is refused.
  std::string folder;
};

// IR 3 to 13, opsets 7 to 23. The graph holds true inputs only, its Constant
// nodes and initialisers as constants, no nodes that no output needs, and has
// passed ops::Validate. An input with a default value (an initialiser of its
// name) is a constant; from IR 4 on, where a caller might give another value,
// the graph names it.
//
// `bytes` are given back once they are parsed: what is held at once is the file
// and its parsed form, then the parsed form and the constants.
//
// Threads: any; no state.
// INVALID_ARGUMENT: not an ONNX model, or one that contradicts itself (names
// the node or tensor). UNIMPLEMENTED: a version, operator, domain or datatype
// that Reprise does not have, by name. RESOURCE_EXHAUSTED: over a limit.
absl::StatusOr<graph::Graph> ImportModel(std::string bytes,
                                         const ImportOptions& options);

}  // namespace reprise::onnx_import
