#include "runtime/onnx/importer.h"

#include <google/protobuf/io/coded_stream.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "onnx/onnx_pb.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/base/utf8.h"
#include "runtime/graph/topology.h"
#include "runtime/onnx/convert.h"
#include "runtime/onnx/limits.h"
#include "runtime/onnx/weights.h"
#include "runtime/ops/op_table.h"
#include "runtime/ops/validate.h"

namespace reprise::onnx_import {
namespace {

using graph::kNoValue;
using graph::ValueId;

constexpr int64_t kMinIr = 3;
constexpr int64_t kMaxIr = 13;
constexpr int64_t kOverridableIr = 4;
constexpr int64_t kMinOpset = 7;
constexpr int64_t kMaxOpset = 23;

std::string Domain(const std::string& domain) {
  return domain == "ai.onnx" ? "" : domain;
}

// Opset version by domain.
using Opsets = absl::flat_hash_map<std::string, int64_t>;

absl::StatusOr<Opsets> ReadVersions(const onnx::ModelProto& model) {
  if (!model.has_ir_version() || !model.has_graph()) {
    return absl::InvalidArgumentError("not an ONNX model");
  }
  if (model.ir_version() < kMinIr || model.ir_version() > kMaxIr) {
    return absl::UnimplementedError(
        absl::StrCat("IR version ", model.ir_version(), "; ", kMinIr, " to ",
                     kMaxIr, " are supported"));
  }
  Opsets opsets;
  for (const onnx::OperatorSetIdProto& import : model.opset_import()) {
    const std::string domain = Domain(import.domain());
    const auto [it, added] = opsets.try_emplace(domain, import.version());
    if (!added && it->second != import.version()) {
      return absl::InvalidArgumentError(
          absl::StrCat("two opsets of domain '", domain, "' are imported"));
    }
  }
  const auto it = opsets.find("");
  if (it != opsets.end() &&
      (it->second < kMinOpset || it->second > kMaxOpset)) {
    return absl::UnimplementedError(absl::StrCat("opset ", it->second, "; ",
                                                 kMinOpset, " to ", kMaxOpset,
                                                 " are supported"));
  }
  return opsets;
}

// What becomes part of the signature is sent to clients.
absl::Status CheckText(absl::string_view name) {
  if (IsUtf8(name)) return absl::OkStatus();
  return absl::InvalidArgumentError("has a name that is not UTF-8");
}

class Importer {
 public:
  Importer(const onnx::ModelProto& model, const ImportOptions& options,
           Opsets opsets)
      : proto_(model.graph()),
        limits_(options.limits),
        overridable_(model.ir_version() >= kOverridableIr),
        opsets_(std::move(opsets)),
        weights_(options.folder, options.limits.max_rank,
                 options.limits.max_constant_bytes) {}

  absl::StatusOr<graph::Graph> Run() {
    graph_.name = proto_.name();
    if (proto_.sparse_initializer_size() > 0) {
      return absl::UnimplementedError("sparse initializers are not supported");
    }
    REPRISE_RETURN_IF_ERROR(AddInitializers());
    REPRISE_RETURN_IF_ERROR(AddInputs());
    REPRISE_RETURN_IF_ERROR(AddNodes());
    REPRISE_RETURN_IF_ERROR(AddOutputs());
    REPRISE_RETURN_IF_ERROR(graph::SortNodes(graph_));
    REPRISE_RETURN_IF_ERROR(ops::Validate(graph_));
    REPRISE_RETURN_IF_ERROR(ops::CheckStrings(graph_));
    graph::DropUnusedNodes(graph_);
    graph::DropUnusedValues(graph_);
    return std::move(graph_);
  }

 private:
  // A value named `name`, which must be new.
  absl::StatusOr<ValueId> AddValue(const std::string& name) {
    if (name.empty()) return absl::InvalidArgumentError("has no name");
    const ValueId id = static_cast<ValueId>(graph_.values.size());
    if (!ids_.try_emplace(name, id).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("the name '", name, "' is given twice"));
    }
    graph_.values.push_back({});
    graph_.values.back().name = name;
    return id;
  }

  absl::Status AddConstant(const std::string& name,
                           absl::StatusOr<HostTensor> tensor) {
    REPRISE_RETURN_IF_ERROR(tensor.status());
    REPRISE_ASSIGN_OR_RETURN(const ValueId id, AddValue(name));
    graph::Value& value = graph_.values[static_cast<size_t>(id)];
    value.dtype = tensor->dtype();
    value.has_shape = true;
    value.dims = tensor->dims();
    value.symbols.resize(value.dims.size());
    value.constant = std::make_shared<const HostTensor>(*std::move(tensor));
    return absl::OkStatus();
  }

  absl::Status AddInitializers() {
    for (const onnx::TensorProto& tensor : proto_.initializer()) {
      REPRISE_RETURN_IF_ERROR(
          Annotate(AddConstant(tensor.name(), weights_.Read(tensor)),
                   absl::StrCat("initializer '", tensor.name(), "'")));
    }
    return absl::OkStatus();
  }

  // An input that an initialiser names is a constant: IR below 4 lists all of
  // them. From then on it is a default, which is all that is served.
  absl::Status AddInputs() {
    for (const onnx::ValueInfoProto& info : proto_.input()) {
      const auto it = ids_.find(info.name());
      if (it != ids_.end() &&
          graph_.values[static_cast<size_t>(it->second)].constant != nullptr) {
        if (overridable_) graph_.defaulted_inputs.push_back(info.name());
        continue;
      }
      REPRISE_RETURN_IF_ERROR(Annotate(
          AddInput(info), absl::StrCat("input '", ToUtf8(info.name()), "'")));
    }
    return absl::OkStatus();
  }

  absl::Status AddInput(const onnx::ValueInfoProto& info) {
    REPRISE_RETURN_IF_ERROR(CheckText(info.name()));
    REPRISE_ASSIGN_OR_RETURN(const ValueId id, AddValue(info.name()));
    REPRISE_RETURN_IF_ERROR(AddTensor(id, graph_.inputs));
    is_input_.insert(id);
    return ConvertType(info, limits_.max_rank,
                       graph_.values[static_cast<size_t>(id)]);
  }

  absl::Status AddTensor(ValueId id, std::vector<ValueId>& tensors) const {
    if (static_cast<int64_t>(tensors.size()) >= limits_.max_tensors) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "is one more than the ", limits_.max_tensors, " that are allowed"));
    }
    tensors.push_back(id);
    return absl::OkStatus();
  }

  // Outputs first, so that a node may read what a later one makes: the order is
  // found afterwards.
  absl::Status AddNodes() {
    std::vector<int> kept;
    for (int i = 0; i < proto_.node_size(); ++i) {
      graph::Node node = Header(i);
      absl::StatusOr<bool> constant = AddNodeOutputs(proto_.node(i), node);
      if (!constant.ok()) {
        return Annotate(constant.status(), graph::NodeText(node));
      }
      if (*constant) continue;
      kept.push_back(i);
      graph_.nodes.push_back(std::move(node));
    }
    for (size_t i = 0; i < kept.size(); ++i) {
      graph::Node& node = graph_.nodes[i];
      REPRISE_RETURN_IF_ERROR(Annotate(FillNode(proto_.node(kept[i]), node),
                                       graph::NodeText(node)));
    }
    return absl::OkStatus();
  }

  graph::Node Header(int index) const {
    const onnx::NodeProto& proto = proto_.node(index);
    graph::Node node;
    node.name = ToUtf8(proto.name());  // for messages only
    node.op = proto.op_type();
    node.domain = Domain(proto.domain());
    node.index = index;
    const auto it = opsets_.find(node.domain);
    node.version = it == opsets_.end() ? 0 : static_cast<int>(it->second);
    return node;
  }

  // True if the node was a Constant and is a value now.
  absl::StatusOr<bool> AddNodeOutputs(const onnx::NodeProto& proto,
                                      graph::Node& node) {
    if (node.domain.empty() && node.op == "Constant") {
      if (proto.output_size() != 1) {
        return absl::InvalidArgumentError("does not have one output");
      }
      REPRISE_RETURN_IF_ERROR(
          AddConstant(proto.output(0), ConvertConstant(proto, weights_)));
      return true;
    }
    // Unknown operators are named before anything else is said about them.
    if (node.domain.empty() && node.version == 0) {
      return absl::InvalidArgumentError(
          "the model imports no opset of domain ai.onnx");
    }
    REPRISE_RETURN_IF_ERROR(
        ops::FindOp(node.domain, node.op, node.version).status());
    for (const std::string& name : proto.output()) {
      if (name.empty()) {
        node.outputs.push_back(kNoValue);
        continue;
      }
      REPRISE_ASSIGN_OR_RETURN(const ValueId id, AddValue(name));
      node.outputs.push_back(id);
    }
    while (!node.outputs.empty() && node.outputs.back() == kNoValue) {
      node.outputs.pop_back();
    }
    return false;
  }

  absl::Status FillNode(const onnx::NodeProto& proto, graph::Node& node) {
    for (int i = 0; i < proto.input_size(); ++i) {
      const std::string& name = proto.input(i);
      if (name.empty()) {
        node.inputs.push_back(kNoValue);
        continue;
      }
      const auto it = ids_.find(name);
      if (it == ids_.end()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "input ", i, " '", name, "' is made by nothing in the model"));
      }
      node.inputs.push_back(it->second);
    }
    while (!node.inputs.empty() && node.inputs.back() == kNoValue) {
      node.inputs.pop_back();
    }
    REPRISE_ASSIGN_OR_RETURN(node.attributes,
                             ConvertAttributes(proto, weights_));
    return absl::OkStatus();
  }

  absl::Status AddOutputs() {
    if (proto_.output_size() == 0) {
      return absl::InvalidArgumentError("the model has no outputs");
    }
    for (const onnx::ValueInfoProto& info : proto_.output()) {
      REPRISE_RETURN_IF_ERROR(Annotate(
          AddOutput(info), absl::StrCat("output '", ToUtf8(info.name()), "'")));
    }
    return absl::OkStatus();
  }

  absl::Status AddOutput(const onnx::ValueInfoProto& info) {
    REPRISE_RETURN_IF_ERROR(CheckText(info.name()));
    const auto it = ids_.find(info.name());
    if (it == ids_.end()) {
      return absl::InvalidArgumentError("is made by nothing in the model");
    }
    const ValueId id = it->second;
    if (!is_output_.insert(id).second) {
      return absl::InvalidArgumentError("is listed twice");
    }
    REPRISE_RETURN_IF_ERROR(AddTensor(id, graph_.outputs));
    graph::Value& value = graph_.values[static_cast<size_t>(id)];
    if (is_input_.contains(id) || value.constant != nullptr)
      return absl::OkStatus();
    return ConvertType(info, limits_.max_rank, value);
  }

  const onnx::GraphProto& proto_;
  const ImportLimits& limits_;
  const bool overridable_;  // inputs with a default value may be given
  const Opsets opsets_;
  WeightReader weights_;
  graph::Graph graph_;
  absl::flat_hash_map<std::string, ValueId> ids_;
  std::set<ValueId> is_input_;
  std::set<ValueId> is_output_;
};

absl::Status Parse(absl::string_view bytes, const ImportLimits& limits,
                   onnx::ModelProto& model) {
  const int64_t size = static_cast<int64_t>(bytes.size());
  if (size > limits.max_file_bytes || size > std::numeric_limits<int>::max()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the file has ", size, " bytes; ", limits.max_file_bytes,
                     " are allowed"));
  }
  google::protobuf::io::CodedInputStream stream(
      reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int>(size));
  stream.SetTotalBytesLimit(std::numeric_limits<int>::max());
  stream.SetRecursionLimit(limits.max_message_depth);
  if (!model.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    return absl::InvalidArgumentError(
        "not an ONNX model: the file is no protobuf message, is cut short, or "
        "nests too deeply");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<graph::Graph> ImportModel(std::string bytes,
                                         const ImportOptions& options) {
  onnx::ModelProto model;
  REPRISE_RETURN_IF_ERROR(Parse(bytes, options.limits, model));
  std::string().swap(bytes);
  REPRISE_ASSIGN_OR_RETURN(Opsets opsets, ReadVersions(model));
  REPRISE_RETURN_IF_ERROR(CheckLimits(model, options.limits));
  return Importer(model, options, std::move(opsets)).Run();
}

}  // namespace reprise::onnx_import
