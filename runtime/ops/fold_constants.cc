#include "runtime/ops/fold_constants.h"

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/graph/topology.h"
#include "runtime/ops/carry_values.h"
#include "runtime/ops/op_table.h"

namespace reprise::ops {
namespace {

using graph::At;
using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;

class Folder {
 public:
  Folder(Graph& graph, const FoldOptions& options, Evaluate evaluate)
      : graph_(graph),
        options_(options),
        evaluate_(evaluate),
        producers_(graph::Producers(graph)),
        readers_(graph.values.size(), 0),
        folded_bytes_(graph.values.size(), 0),
        folded_(graph.nodes.size(), false) {
    for (const ValueId id : graph.outputs) ++readers_[At(id)];
    for (const Node& node : graph.nodes) {
      for (const ValueId id : node.inputs) {
        if (id != kNoValue) ++readers_[At(id)];
      }
    }
  }

  absl::StatusOr<FoldResult> Run() {
    for (const int index : Order()) {
      REPRISE_RETURN_IF_ERROR(
          Annotate(Fold(index), graph::NodeText(graph_.nodes[At(index)])));
    }
    FoldResult result;
    std::vector<Node> kept;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (folded_[i]) {
        ++result.folded;
      } else {
        kept.push_back(std::move(graph_.nodes[i]));
      }
    }
    graph_.nodes = std::move(kept);
    result.folded += graph::DropUnusedNodes(graph_);
    graph::DropUnusedValues(graph_);
    result.bytes = live_bytes_;
    return result;
  }

 private:
  // Nodes all of whose inputs are constants or made by such nodes.
  std::vector<bool> Foldable() const {
    std::vector<bool> foldable(graph_.nodes.size(), true);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const ValueId id : graph_.nodes[i].inputs) {
        if (id == kNoValue || graph_.values[At(id)].constant != nullptr) {
          continue;
        }
        const int producer = producers_[At(id)];
        if (producer < 0 || !foldable[At(producer)]) foldable[i] = false;
      }
    }
    return foldable;
  }

  // The foldable nodes, each chain up to its reader before the next one, so
  // that few values in between are alive together.
  std::vector<int> Order() const {
    const std::vector<bool> foldable = Foldable();
    std::vector<int> order;
    std::vector<bool> seen(graph_.nodes.size(), false);
    const auto visit = [&](ValueId from) {
      // Second visit of an entry: its inputs are in the order already.
      std::vector<std::pair<int, bool>> stack{{ProducerOf(from), false}};
      while (!stack.empty()) {
        const auto [index, done] = stack.back();
        stack.pop_back();
        if (index < 0 || !foldable[At(index)]) continue;
        if (done) order.push_back(index);
        if (done || seen[At(index)]) continue;
        seen[At(index)] = true;
        stack.emplace_back(index, true);
        for (const ValueId id : graph_.nodes[At(index)].inputs) {
          stack.emplace_back(ProducerOf(id), false);
        }
      }
    };
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (foldable[i]) continue;
      for (const ValueId id : graph_.nodes[i].inputs) visit(id);
    }
    for (const ValueId id : graph_.outputs) visit(id);
    return order;
  }

  int ProducerOf(ValueId id) const {
    return id == kNoValue ? -1 : producers_[At(id)];
  }

  absl::Status Fold(int index) {
    const Node& node = graph_.nodes[At(index)];
    std::vector<TensorType> types;
    types.reserve(node.inputs.size());
    NodeView view;
    view.node = &node;
    for (const ValueId id : node.inputs) {
      if (id == kNoValue) {
        view.types.push_back(nullptr);
        view.constants.push_back(nullptr);
        continue;
      }
      const HostTensor* tensor = graph_.values[At(id)].constant.get();
      if (tensor == nullptr) return absl::OkStatus();  // was left to run
      types.push_back({tensor->dtype(), tensor->dims()});
      view.types.push_back(&types.back());
      view.constants.push_back(tensor);
    }
    REPRISE_ASSIGN_OR_RETURN(const Op* op,
                             FindOp(node.domain, node.op, node.version));
    REPRISE_ASSIGN_OR_RETURN(std::vector<TensorType> outputs, op->infer(view));
    if (node.outputs.size() > outputs.size()) {
      return BadNode(absl::StrCat("has ", node.outputs.size(), " outputs, not ",
                                  outputs.size()));
    }
    outputs.resize(node.outputs.size());
    REPRISE_ASSIGN_OR_RETURN(const bool fits, Admit(outputs));
    if (!fits) return absl::OkStatus();
    REPRISE_ASSIGN_OR_RETURN(std::vector<HostTensor> values,
                             CarryValues(view, outputs));
    if (values.empty()) {
      absl::StatusOr<std::vector<HostTensor>> computed =
          evaluate_(view, outputs);
      if (absl::IsUnimplemented(computed.status())) return absl::OkStatus();
      REPRISE_RETURN_IF_ERROR(computed.status());
      values = *std::move(computed);
    }
    return Replace(index, outputs, std::move(values));
  }

  // False: too large for a value, left to run. An error: too much in all.
  absl::StatusOr<bool> Admit(const std::vector<TensorType>& outputs) const {
    int64_t bytes = 0;
    for (const TensorType& type : outputs) {
      REPRISE_ASSIGN_OR_RETURN(const int64_t more, BytesOf(type));
      if (more > options_.max_value_bytes) return false;
      bytes += more;
    }
    if (bytes > options_.max_total_bytes - live_bytes_) {
      return absl::ResourceExhaustedError(
          absl::StrCat("folding constants takes ", live_bytes_ + bytes,
                       " bytes; ", options_.max_total_bytes, " are allowed"));
    }
    return true;
  }

  absl::Status Replace(int index, const std::vector<TensorType>& outputs,
                       std::vector<HostTensor> values) {
    const Node& node = graph_.nodes[At(index)];
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (i >= values.size() || values[i].dtype() != outputs[i].dtype ||
          values[i].dims() != outputs[i].dims) {
        return absl::InternalError(absl::StrCat(
            "evaluated to another type than ", DTypeName(outputs[i].dtype), " ",
            DimsText(outputs[i].dims)));
      }
      const ValueId id = node.outputs[i];
      if (id == kNoValue || readers_[At(id)] == 0) continue;
      folded_bytes_[At(id)] = static_cast<int64_t>(values[i].bytes().size());
      live_bytes_ += folded_bytes_[At(id)];
      graph::Value& value = graph_.values[At(id)];
      value.dtype = values[i].dtype();
      value.has_shape = true;
      value.dims = values[i].dims();
      value.symbols.assign(value.dims.size(), "");
      value.constant = std::make_shared<const HostTensor>(std::move(values[i]));
    }
    folded_[At(index)] = true;
    for (const ValueId id : node.inputs) {
      if (id == kNoValue || --readers_[At(id)] > 0) continue;
      live_bytes_ -= folded_bytes_[At(id)];
      graph_.values[At(id)].constant.reset();
    }
    return absl::OkStatus();
  }

  Graph& graph_;
  const FoldOptions& options_;
  Evaluate evaluate_;
  const std::vector<int> producers_;
  std::vector<int> readers_;  // of each value; an output counts as one
  std::vector<int64_t> folded_bytes_;
  std::vector<bool> folded_;
  int64_t live_bytes_ = 0;
};

}  // namespace

absl::StatusOr<FoldResult> FoldConstants(Graph& graph,
                                         const FoldOptions& options,
                                         Evaluate evaluate) {
  return Folder(graph, options, evaluate).Run();
}

}  // namespace reprise::ops
