#include "runtime/graph/topology.h"

#include <cstddef>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace reprise::graph {
namespace {

// For each node, how many of its inputs come from other nodes, each reader
// once.
std::vector<int> PendingInputs(const Graph& graph,
                               const std::vector<std::vector<int>>& consumers) {
  std::vector<int> pending(graph.nodes.size(), 0);
  for (const Node& node : graph.nodes) {
    for (const ValueId output : node.outputs) {
      if (output == kNoValue) continue;
      for (const int reader : consumers[At(output)]) ++pending[At(reader)];
    }
  }
  return pending;
}

}  // namespace

absl::Status SortNodes(Graph& graph) {
  const std::vector<std::vector<int>> consumers = Consumers(graph);
  std::vector<int> pending = PendingInputs(graph, consumers);
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (size_t i = 0; i < pending.size(); ++i) {
    if (pending[i] == 0) ready.push(static_cast<int>(i));
  }
  std::vector<Node> sorted;
  sorted.reserve(graph.nodes.size());
  std::vector<bool> placed(graph.nodes.size(), false);
  while (!ready.empty()) {
    const int next = ready.top();
    ready.pop();
    placed[At(next)] = true;
    for (const ValueId output : graph.nodes[At(next)].outputs) {
      if (output == kNoValue) continue;
      for (const int reader : consumers[At(output)]) {
        if (--pending[At(reader)] == 0) ready.push(reader);
      }
    }
    sorted.push_back(std::move(graph.nodes[At(next)]));
  }
  for (size_t i = 0; i < placed.size(); ++i) {
    if (placed[i]) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        NodeText(graph.nodes[i]), " is part of a cycle or behind one"));
  }
  graph.nodes = std::move(sorted);
  return absl::OkStatus();
}

void DropUnusedValues(Graph& graph) {
  std::vector<bool> used(graph.values.size(), false);
  const auto mark = [&used](const std::vector<ValueId>& ids) {
    for (const ValueId id : ids) {
      if (id != kNoValue) used[At(id)] = true;
    }
  };
  mark(graph.inputs);
  mark(graph.outputs);
  for (const Node& node : graph.nodes) {
    mark(node.inputs);
    mark(node.outputs);
  }
  std::vector<ValueId> renumbered(graph.values.size(), kNoValue);
  std::vector<Value> kept;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (!used[i]) continue;
    renumbered[i] = static_cast<ValueId>(kept.size());
    kept.push_back(std::move(graph.values[i]));
  }
  graph.values = std::move(kept);
  const auto renumber = [&renumbered](std::vector<ValueId>& ids) {
    for (ValueId& id : ids) {
      if (id != kNoValue) id = renumbered[At(id)];
    }
  };
  renumber(graph.inputs);
  renumber(graph.outputs);
  for (Node& node : graph.nodes) {
    renumber(node.inputs);
    renumber(node.outputs);
  }
}

int DropUnusedNodes(Graph& graph) {
  std::vector<bool> needed(graph.values.size(), false);
  for (const ValueId id : graph.outputs) needed[At(id)] = true;
  std::vector<bool> keep(graph.nodes.size(), false);
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    for (const ValueId id : graph.nodes[i].outputs) {
      if (id != kNoValue && needed[At(id)]) keep[i] = true;
    }
    if (!keep[i]) continue;
    for (const ValueId id : graph.nodes[i].inputs) {
      if (id != kNoValue) needed[At(id)] = true;
    }
  }
  std::vector<Node> kept;
  for (size_t i = 0; i < keep.size(); ++i) {
    if (keep[i]) kept.push_back(std::move(graph.nodes[i]));
  }
  const int dropped = static_cast<int>(keep.size() - kept.size());
  graph.nodes = std::move(kept);
  return dropped;
}

}  // namespace reprise::graph
