#include "runtime/ops/bound_graph.h"

#include <cstddef>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/ops/carry_values.h"
#include "runtime/ops/node_view.h"
#include "runtime/ops/op_table.h"

namespace reprise::ops {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::Value;
using graph::ValueId;

constexpr int64_t kShapeElements = 64;
constexpr int64_t kMaxCarriedBytes = int64_t{16} << 20;

// `spec`'s dims with `rows` in front (if batched) and its symbols replaced.
absl::StatusOr<Dims> BoundDims(const TensorSpec& spec, bool batched, int rows,
                               const std::map<std::string, int64_t>& symbols) {
  Dims dims;
  if (batched) dims.push_back(rows);
  for (size_t i = 0; i < spec.dims.size(); ++i) {
    int64_t extent = spec.dims[i];
    if (extent == kFreeDim) {
      const auto it = i < spec.symbols.size() ? symbols.find(spec.symbols[i])
                                              : symbols.end();
      if (it == symbols.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat("axis ", i + (batched ? 1 : 0), " of '", spec.name,
                         "' has no value"));
      }
      extent = it->second;
    }
    dims.push_back(extent);
  }
  return dims;
}

// `actual` against what the model declares; free dims fit anything.
absl::Status CheckDeclared(const Value& value, const Dims& actual,
                           absl::string_view what) {
  if (!value.has_shape) return absl::OkStatus();
  bool fits = value.dims.size() == actual.size();
  for (size_t i = 0; fits && i < actual.size(); ++i) {
    fits = value.dims[i] == kFreeDim || value.dims[i] == actual[i];
  }
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " '", value.name, "' is ", DimsText(actual),
                   ", but the model declares ", DimsText(value.dims)));
}

class Binder {
 public:
  Binder(const Graph& graph, const Signature& signature)
      : graph_(graph), signature_(signature), known_(graph.values.size()) {
    bound_.graph = &graph;
    bound_.types.resize(graph.values.size());
    bound_.constants.resize(graph.values.size());
    bound_.live.assign(graph.nodes.size(), false);
  }

  absl::StatusOr<BoundGraph> Run(int rows, std::span<const int64_t> variant) {
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      if (graph_.values[i].constant == nullptr) continue;
      bound_.constants[i] = graph_.values[i].constant;
      bound_.types[i] = {bound_.constants[i]->dtype(),
                         bound_.constants[i]->dims()};
      known_[i] = true;
    }
    REPRISE_RETURN_IF_ERROR(BindInputs(rows, variant));
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (absl::Status status = BindNode(static_cast<int>(i)); !status.ok()) {
        return Annotate(status, graph::NodeText(node));
      }
    }
    REPRISE_RETURN_IF_ERROR(CheckOutputs(rows, variant));
    MarkLive();
    return std::move(bound_);
  }

 private:
  absl::StatusOr<std::map<std::string, int64_t>> Symbols(
      std::span<const int64_t> variant) const {
    if (variant.size() != signature_.free_symbols.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("a variant of ", variant.size(), " dims for a model of ",
                       signature_.free_symbols.size(), " free ones"));
    }
    std::map<std::string, int64_t> symbols;
    for (size_t i = 0; i < variant.size(); ++i) {
      symbols[signature_.free_symbols[i]] = variant[i];
    }
    return symbols;
  }

  absl::Status BindInputs(int rows, std::span<const int64_t> variant) {
    REPRISE_ASSIGN_OR_RETURN(const auto symbols, Symbols(variant));
    if (signature_.inputs.size() != graph_.inputs.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the signature has ", signature_.inputs.size(),
                       " inputs and the model has ", graph_.inputs.size()));
    }
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      const size_t id = static_cast<size_t>(graph_.inputs[i]);
      const Value& value = graph_.values[id];
      const TensorSpec& spec = signature_.inputs[i];
      if (spec.name != value.name || spec.dtype != value.dtype) {
        return absl::InvalidArgumentError(
            absl::StrCat("input ", i, " is ", DTypeName(value.dtype), " '",
                         value.name, "', but the signature says ",
                         DTypeName(spec.dtype), " '", spec.name, "'"));
      }
      REPRISE_ASSIGN_OR_RETURN(
          Dims dims, BoundDims(spec, signature_.batched, rows, symbols));
      REPRISE_RETURN_IF_ERROR(CheckDeclared(value, dims, "input"));
      REPRISE_RETURN_IF_ERROR(
          Annotate(BytesOf({spec.dtype, dims}).status(),
                   absl::StrCat("input '", value.name, "'")));
      bound_.types[id] = {spec.dtype, std::move(dims)};
      known_[id] = true;
    }
    return absl::OkStatus();
  }

  absl::Status BindNode(int index) {
    const Node& node = graph_.nodes[static_cast<size_t>(index)];
    REPRISE_ASSIGN_OR_RETURN(const Op* op,
                             FindOp(node.domain, node.op, node.version));
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      if (id != kNoValue && !known_[static_cast<size_t>(id)]) {
        return absl::InvalidArgumentError(absl::StrCat(
            "input ", i, " '", graph_.values[static_cast<size_t>(id)].name,
            "' is made by no earlier node"));
      }
    }
    const NodeView view = ViewOf(bound_, index);
    for (int i = 0; i < op->min_inputs; ++i) {
      if (!view.Has(static_cast<size_t>(i))) {
        return absl::InvalidArgumentError(
            absl::StrCat("input ", i, " is missing"));
      }
    }
    REPRISE_ASSIGN_OR_RETURN(std::vector<TensorType> types, op->infer(view));
    if (node.outputs.size() > types.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "has ", node.outputs.size(), " outputs, not ", types.size()));
    }
    for (const TensorType& type : types) {
      REPRISE_RETURN_IF_ERROR(BytesOf(type).status());
    }
    REPRISE_ASSIGN_OR_RETURN(std::vector<HostTensor> values,
                             CarryValues(view, types));
    if (!Affords(values)) values.clear();
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      const size_t id = static_cast<size_t>(node.outputs[i]);
      bound_.types[id] = std::move(types[i]);
      known_[id] = true;
      if (i < values.size()) {
        bound_.constants[id] =
            std::make_shared<const HostTensor>(std::move(values[i]));
      }
    }
    return absl::OkStatus();
  }

  // What shapes are made of is carried always, other values up to a bound: the
  // graph computes the rest when it runs.
  bool Affords(const std::vector<HostTensor>& values) {
    int64_t bytes = 0;
    bool small = true;
    for (const HostTensor& value : values) {
      bytes += static_cast<int64_t>(value.bytes().size());
      small = small && value.elements() <= kShapeElements;
    }
    if (small) return true;
    if (bytes > kMaxCarriedBytes - carried_bytes_) return false;
    carried_bytes_ += bytes;
    return true;
  }

  absl::Status CheckOutputs(int rows, std::span<const int64_t> variant) {
    REPRISE_ASSIGN_OR_RETURN(const auto symbols, Symbols(variant));
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const size_t id = static_cast<size_t>(graph_.outputs[i]);
      const Value& value = graph_.values[id];
      if (!known_[id]) {
        return absl::InvalidArgumentError(
            absl::StrCat("output '", value.name, "' is made by no node"));
      }
      const Dims& dims = bound_.types[id].dims;
      REPRISE_RETURN_IF_ERROR(CheckDeclared(value, dims, "output"));
      if (i >= signature_.outputs.size()) continue;
      const TensorSpec& spec = signature_.outputs[i];
      const size_t front = signature_.batched ? 1 : 0;
      bool fits = dims.size() == spec.dims.size() + front &&
                  (front == 0 || dims[0] == rows);
      for (size_t k = 0; fits && k < spec.dims.size(); ++k) {
        fits = spec.dims[k] == kFreeDim || spec.dims[k] == dims[k + front];
      }
      if (!fits || spec.dtype != bound_.types[id].dtype) {
        return absl::InvalidArgumentError(absl::StrCat(
            "output '", value.name, "' is ", DTypeName(bound_.types[id].dtype),
            " ", DimsText(dims), " for ", rows,
            " rows, but the signature says ", DTypeName(spec.dtype), " ",
            DimsText(spec.dims), signature_.batched ? " a row" : ""));
      }
    }
    return absl::OkStatus();
  }

  // Backwards from the outputs: a node is live if somebody needs one of its
  // outputs that is not known already.
  void MarkLive() {
    std::vector<bool> needed(graph_.values.size(), false);
    for (const ValueId id : graph_.outputs) {
      needed[static_cast<size_t>(id)] = true;
    }
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      const Node& node = graph_.nodes[i];
      for (const ValueId id : node.outputs) {
        if (id == kNoValue) continue;
        const size_t at = static_cast<size_t>(id);
        if (needed[at] && bound_.constants[at] == nullptr) {
          bound_.live[i] = true;
        }
      }
      if (!bound_.live[i]) continue;
      for (const ValueId id : node.inputs) {
        if (id != kNoValue) needed[static_cast<size_t>(id)] = true;
      }
    }
  }

  const Graph& graph_;
  const Signature& signature_;
  BoundGraph bound_;
  std::vector<bool> known_;    // typed so far
  int64_t carried_bytes_ = 0;  // of values that are no shapes
};

}  // namespace

absl::StatusOr<int64_t> BytesOf(const TensorType& type) {
  if (type.dims.size() > kMaxRank) {
    return absl::UnimplementedError(absl::StrCat("has a tensor of ",
                                                 type.dims.size(), " axes; ",
                                                 kMaxRank, " are supported"));
  }
  return NumBytes(type.dtype, type.dims);
}

absl::StatusOr<BoundGraph> Bind(const Graph& graph, const Signature& signature,
                                int rows, std::span<const int64_t> variant) {
  return Binder(graph, signature).Run(rows, variant);
}

}  // namespace reprise::ops
