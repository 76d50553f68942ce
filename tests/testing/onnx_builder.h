// Builds small ONNX models for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "onnx/onnx_pb.h"

namespace reprise::testing {

// "N" or 3, as a dim of a declared tensor; an empty name is an unnamed free
// dim.
struct OnnxDim {
  OnnxDim(int64_t extent) : value(extent) {}  // NOLINT: reads as a list of dims
  OnnxDim(const char* symbol) : name(symbol) {}  // NOLINT: likewise
  int64_t value = -1;
  std::string name;
};

// A ModelProto with one graph, built call by call:
//   OnnxBuilder model(/*opset=*/13);
//   model.Input("x", {"N", 4}).Node("Relu", {"x"}, {"y"}).Output("y", {4});
//   ImportModel(model.Bytes(), {});
// Attributes go to the node that was added last.
class OnnxBuilder {
 public:
  explicit OnnxBuilder(int opset, int ir_version = 8);

  static constexpr int kFloat = onnx::TensorProto::FLOAT;
  static constexpr int kInt64 = onnx::TensorProto::INT64;

  OnnxBuilder& Input(const std::string& name, const std::vector<OnnxDim>& dims,
                     int elem_type = kFloat);
  OnnxBuilder& Output(const std::string& name, const std::vector<OnnxDim>& dims,
                      int elem_type = kFloat);
  OnnxBuilder& Node(const std::string& op,
                    const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs,
                    const std::string& name = "");
  OnnxBuilder& Int(const std::string& name, int64_t value);
  OnnxBuilder& Float(const std::string& name, float value);
  OnnxBuilder& String(const std::string& name, const std::string& value);
  OnnxBuilder& Ints(const std::string& name, const std::vector<int64_t>& value);

  // Initialisers.
  OnnxBuilder& Floats(const std::string& name, const std::vector<int64_t>& dims,
                      const std::vector<float>& values);
  OnnxBuilder& Int64s(const std::string& name, const std::vector<int64_t>& dims,
                      const std::vector<int64_t>& values);

  onnx::ModelProto& proto() { return model_; }
  onnx::GraphProto& graph() { return *model_.mutable_graph(); }
  onnx::NodeProto& last_node() { return *graph().mutable_node()->rbegin(); }
  std::string Bytes() const { return model_.SerializeAsString(); }

 private:
  onnx::AttributeProto& AddAttribute(const std::string& name, int type);

  onnx::ModelProto model_;
};

}  // namespace reprise::testing
