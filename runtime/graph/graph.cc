#include "runtime/graph/graph.h"

#include "absl/strings/str_cat.h"

namespace reprise::graph {

std::string SymbolOf(const Value& value, size_t axis) {
  if (axis < value.symbols.size() && !value.symbols[axis].empty()) {
    return value.symbols[axis];
  }
  return absl::StrCat(value.name, "[", axis, "]");
}

std::string NodeText(const Node& node) {
  return absl::StrCat(
      "node ", node.index,
      node.name.empty() ? "" : absl::StrCat(" '", node.name, "'"), " (",
      node.domain.empty() ? "" : node.domain + "::", node.op, ")");
}

std::vector<int> Producers(const Graph& graph) {
  std::vector<int> producers(graph.values.size(), -1);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const ValueId output : graph.nodes[i].outputs) {
      if (output != kNoValue) {
        producers[static_cast<size_t>(output)] = static_cast<int>(i);
      }
    }
  }
  return producers;
}

std::vector<std::vector<int>> Consumers(const Graph& graph) {
  std::vector<std::vector<int>> consumers(graph.values.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const ValueId input : graph.nodes[i].inputs) {
      if (input == kNoValue) continue;
      std::vector<int>& readers = consumers[static_cast<size_t>(input)];
      if (readers.empty() || readers.back() != static_cast<int>(i)) {
        readers.push_back(static_cast<int>(i));
      }
    }
  }
  return consumers;
}

}  // namespace reprise::graph
