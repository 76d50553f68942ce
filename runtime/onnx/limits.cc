#include "runtime/onnx/limits.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace reprise::onnx_import {
namespace {

class Checker {
 public:
  explicit Checker(const ImportLimits& limits) : limits_(limits) {}

  absl::Status Graph(const onnx::GraphProto& graph, int depth) {
    if (depth > limits_.max_graph_depth) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "subgraphs are nested more than ", limits_.max_graph_depth, " deep"));
    }
    for (const onnx::TensorProto& tensor : graph.initializer()) {
      REPRISE_RETURN_IF_ERROR(Name(tensor.name()));
    }
    for (const auto* infos : {&graph.input(), &graph.output()}) {
      for (const onnx::ValueInfoProto& info : *infos) {
        REPRISE_RETURN_IF_ERROR(Info(info));
      }
    }
    for (const onnx::NodeProto& node : graph.node()) {
      REPRISE_RETURN_IF_ERROR(Node(node, depth));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Name(const std::string& name) const {
    const int64_t size = static_cast<int64_t>(name.size());
    if (size <= limits_.max_name_bytes) return absl::OkStatus();
    return absl::ResourceExhaustedError(
        absl::StrCat("a name of ", size, " bytes ('", name.substr(0, 32),
                     "...'); ", limits_.max_name_bytes, " are allowed"));
  }

  absl::Status Info(const onnx::ValueInfoProto& info) const {
    REPRISE_RETURN_IF_ERROR(Name(info.name()));
    for (const auto& dim : info.type().tensor_type().shape().dim()) {
      REPRISE_RETURN_IF_ERROR(Name(dim.dim_param()));
    }
    return absl::OkStatus();
  }

  absl::Status Node(const onnx::NodeProto& node, int depth) {
    if (++nodes_ > limits_.max_nodes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("more than ", limits_.max_nodes, " nodes"));
    }
    REPRISE_RETURN_IF_ERROR(Name(node.name()));
    REPRISE_RETURN_IF_ERROR(Name(node.op_type()));
    REPRISE_RETURN_IF_ERROR(Name(node.domain()));
    for (const std::string& name : node.input()) {
      REPRISE_RETURN_IF_ERROR(Name(name));
    }
    for (const std::string& name : node.output()) {
      REPRISE_RETURN_IF_ERROR(Name(name));
    }
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      REPRISE_RETURN_IF_ERROR(Name(attribute.name()));
      if (attribute.has_g()) {
        REPRISE_RETURN_IF_ERROR(Graph(attribute.g(), depth + 1));
      }
      for (const onnx::GraphProto& graph : attribute.graphs()) {
        REPRISE_RETURN_IF_ERROR(Graph(graph, depth + 1));
      }
    }
    return absl::OkStatus();
  }

  const ImportLimits& limits_;
  int64_t nodes_ = 0;
};

}  // namespace

absl::Status CheckLimits(const onnx::ModelProto& model,
                         const ImportLimits& limits) {
  return Checker(limits).Graph(model.graph(), 0);
}

}  // namespace reprise::onnx_import
