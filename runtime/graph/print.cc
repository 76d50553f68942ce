#include "runtime/graph/print.h"

#include <cstddef>
#include <type_traits>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace reprise::graph {
namespace {

std::string DeclaredText(const Value& value) {
  if (!value.has_shape) return "?";
  std::string text = "[";
  for (size_t i = 0; i < value.dims.size(); ++i) {
    if (i > 0) text += ",";
    const bool named = i < value.symbols.size() && !value.symbols[i].empty();
    if (value.dims[i] != kFreeDim) {
      absl::StrAppend(&text, value.dims[i]);
    } else {
      text += named ? value.symbols[i] : "?";
    }
  }
  return text + "]";
}

std::string AttributeText(const AttributeValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, float>) {
          return absl::StrCat(v);
        } else if constexpr (std::is_same_v<T, std::string>) {
          return absl::StrCat("'", v, "'");
        } else if constexpr (std::is_same_v<
                                 T, std::shared_ptr<const HostTensor>>) {
          return v == nullptr
                     ? "null"
                     : absl::StrCat(DTypeName(v->dtype()), DimsText(v->dims()));
        } else if constexpr (std::is_same_v<T, std::shared_ptr<const Graph>>) {
          return "graph";
        } else {
          return absl::StrCat("[", absl::StrJoin(v, ","), "]");
        }
      },
      value);
}

std::string NamesText(const Graph& graph, const std::vector<ValueId>& ids) {
  return absl::StrCat(
      "(",
      absl::StrJoin(ids, ", ",
                    [&graph](std::string* out, ValueId id) {
                      *out += id == kNoValue
                                  ? "-"
                                  : graph.values[static_cast<size_t>(id)].name;
                    }),
      ")");
}

}  // namespace

std::string PrintGraph(const Graph& graph) {
  std::string text;
  const auto line = [&text](const char* what, const Value& value) {
    absl::StrAppend(&text, what, " ", value.name, " ", DTypeName(value.dtype),
                    " ", DeclaredText(value), "\n");
  };
  for (const ValueId id : graph.inputs) {
    line("input", graph.values[static_cast<size_t>(id)]);
  }
  for (const Value& value : graph.values) {
    if (value.constant == nullptr) continue;
    absl::StrAppend(&text, "constant ", value.name, " ",
                    DTypeName(value.constant->dtype()), " ",
                    DimsText(value.constant->dims()), "\n");
  }
  for (const Node& node : graph.nodes) {
    absl::StrAppend(&text, "node ", node.index,
                    node.name.empty() ? "" : " '" + node.name + "'", " ",
                    node.domain.empty() ? "" : node.domain + "::", node.op, "@",
                    node.version, " ", NamesText(graph, node.inputs), " -> ",
                    NamesText(graph, node.outputs));
    for (const auto& [name, value] : node.attributes.all()) {
      absl::StrAppend(&text, " ", name, "=", AttributeText(value));
    }
    text += "\n";
  }
  for (const ValueId id : graph.outputs) {
    line("output", graph.values[static_cast<size_t>(id)]);
  }
  return text;
}

}  // namespace reprise::graph
