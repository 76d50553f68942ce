// A graph as text.
#pragma once

#include <string>

#include "runtime/graph/graph.h"

namespace reprise::graph {

// One line each for inputs, constants, nodes and outputs, in the graph's order:
// for golden tests and for people. Contents of constants are left out.
//   input x FP32 [N,4]
//   constant w FP32 [4,8]
//   node 0 'fc' MatMul@13 (x, w) -> (y) alpha=1
//   output y FP32 [N,8]
std::string PrintGraph(const Graph& graph);

}  // namespace reprise::graph
