#include "runtime/onnx/limits.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/ops/onnx_dtype.h"
#include "runtime/tensor/shape.h"

namespace reprise::onnx_import {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

// What the message itself holds of the tensor's data.
int64_t StoredBytes(const onnx::TensorProto& tensor) {
  size_t bytes = tensor.raw_data().size();
  bytes += 4 * static_cast<size_t>(tensor.float_data_size());
  bytes += 4 * static_cast<size_t>(tensor.int32_data_size());
  bytes += 8 * static_cast<size_t>(tensor.int64_data_size());
  bytes += 8 * static_cast<size_t>(tensor.uint64_data_size());
  bytes += 8 * static_cast<size_t>(tensor.double_data_size());
  for (const std::string& text : tensor.string_data()) bytes += text.size();
  return static_cast<int64_t>(bytes);
}

// What the tensor will take. Dims, datatype and data that contradict each other
// are refused when it is read, and take nothing.
int64_t TensorBytes(const onnx::TensorProto& tensor) {
  const bool external = tensor.data_location() == onnx::TensorProto::EXTERNAL;
  const int64_t stored = StoredBytes(tensor);
  const auto dtype = ops::DTypeFromOnnx(tensor.data_type());
  if (!dtype.ok()) return stored;
  const Dims dims(tensor.dims().begin(), tensor.dims().end());
  const auto declared = NumBytes(*dtype, dims);
  if (!declared.ok()) return stored;
  return external ? *declared : std::min(*declared, stored);
}

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
      Count(tensor, tensor.name());
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

  absl::Status Constants() const {
    if (bytes_ <= limits_.max_constant_bytes) return absl::OkStatus();
    return absl::ResourceExhaustedError(absl::StrCat(
        "its constants have ", bytes_, " bytes together (the largest, '",
        largest_, "', has ", largest_bytes_, "); ", limits_.max_constant_bytes,
        " are allowed"));
  }

 private:
  void Count(const onnx::TensorProto& tensor, const std::string& name) {
    const int64_t bytes = TensorBytes(tensor);
    if (bytes > largest_bytes_) {
      largest_bytes_ = bytes;
      largest_ = name;
    }
    bytes_ = bytes > kMax - bytes_ ? kMax : bytes_ + bytes;
  }

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
      if (attribute.has_t()) Count(attribute.t(), node.name());
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
  int64_t bytes_ = 0;  // of all constants
  int64_t largest_bytes_ = 0;
  std::string largest_;
};

}  // namespace

absl::Status CheckLimits(const onnx::ModelProto& model,
                         const ImportLimits& limits) {
  Checker checker(limits);
  REPRISE_RETURN_IF_ERROR(checker.Graph(model.graph(), 0));
  return checker.Constants();
}

}  // namespace reprise::onnx_import
