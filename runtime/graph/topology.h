// The order of a graph's nodes.
#pragma once

#include "absl/status/status.h"
#include "runtime/graph/graph.h"

namespace reprise::graph {

// Puts every node after those whose outputs it reads; nodes that need no move
// keep their order. INVALID_ARGUMENT, with a node of it, if there is a cycle.
absl::Status SortNodes(Graph& graph);

// Drops values that no node, input or output refers to, and renumbers the rest;
// their order stays.
void DropUnusedValues(Graph& graph);

// Drops nodes of whose outputs none is read or an output of the graph, and what
// thereby loses its readers. Returns how many.
int DropUnusedNodes(Graph& graph);

}  // namespace reprise::graph
