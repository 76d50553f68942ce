#include "tests/testing/onnx_builder.h"

namespace reprise::testing {
namespace {

void Declare(onnx::ValueInfoProto& info, const std::string& name,
             const std::vector<OnnxDim>& dims, int elem_type) {
  info.set_name(name);
  onnx::TypeProto_Tensor& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(elem_type);
  onnx::TensorShapeProto& shape = *type.mutable_shape();
  for (const OnnxDim& dim : dims) {
    onnx::TensorShapeProto_Dimension& out = *shape.add_dim();
    if (!dim.name.empty()) out.set_dim_param(dim.name);
    if (dim.value >= 0) out.set_dim_value(dim.value);
  }
}

}  // namespace

OnnxBuilder::OnnxBuilder(int opset, int ir_version) {
  model_.set_ir_version(ir_version);
  model_.add_opset_import()->set_version(opset);
  model_.mutable_graph()->set_name("test");
}

OnnxBuilder& OnnxBuilder::Input(const std::string& name,
                                const std::vector<OnnxDim>& dims,
                                int elem_type) {
  Declare(*graph().add_input(), name, dims, elem_type);
  return *this;
}

OnnxBuilder& OnnxBuilder::Output(const std::string& name,
                                 const std::vector<OnnxDim>& dims,
                                 int elem_type) {
  Declare(*graph().add_output(), name, dims, elem_type);
  return *this;
}

OnnxBuilder& OnnxBuilder::Node(const std::string& op,
                               const std::vector<std::string>& inputs,
                               const std::vector<std::string>& outputs,
                               const std::string& name) {
  onnx::NodeProto& node = *graph().add_node();
  node.set_op_type(op);
  node.set_name(name);
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  return *this;
}

onnx::AttributeProto& OnnxBuilder::AddAttribute(const std::string& name,
                                                int type) {
  onnx::AttributeProto& attribute = *last_node().add_attribute();
  attribute.set_name(name);
  attribute.set_type(static_cast<onnx::AttributeProto::AttributeType>(type));
  return attribute;
}

OnnxBuilder& OnnxBuilder::Int(const std::string& name, int64_t value) {
  AddAttribute(name, onnx::AttributeProto::INT).set_i(value);
  return *this;
}

OnnxBuilder& OnnxBuilder::Float(const std::string& name, float value) {
  AddAttribute(name, onnx::AttributeProto::FLOAT).set_f(value);
  return *this;
}

OnnxBuilder& OnnxBuilder::String(const std::string& name,
                                 const std::string& value) {
  AddAttribute(name, onnx::AttributeProto::STRING).set_s(value);
  return *this;
}

OnnxBuilder& OnnxBuilder::Ints(const std::string& name,
                               const std::vector<int64_t>& value) {
  onnx::AttributeProto& attribute =
      AddAttribute(name, onnx::AttributeProto::INTS);
  for (const int64_t v : value) attribute.add_ints(v);
  return *this;
}

OnnxBuilder& OnnxBuilder::Floats(const std::string& name,
                                 const std::vector<int64_t>& dims,
                                 const std::vector<float>& values) {
  onnx::TensorProto& tensor = *graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  for (const int64_t dim : dims) tensor.add_dims(dim);
  for (const float v : values) tensor.add_float_data(v);
  return *this;
}

OnnxBuilder& OnnxBuilder::Int64s(const std::string& name,
                                 const std::vector<int64_t>& dims,
                                 const std::vector<int64_t>& values) {
  onnx::TensorProto& tensor = *graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::INT64);
  for (const int64_t dim : dims) tensor.add_dims(dim);
  for (const int64_t v : values) tensor.add_int64_data(v);
  return *this;
}

}  // namespace reprise::testing
