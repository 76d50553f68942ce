#include "tests/runtime/ops/ops_testing.h"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "gtest/gtest.h"
#include "runtime/base/status_macros.h"
#include "runtime/ops/carry_values.h"
#include "runtime/ops/infer_signature.h"
#include "runtime/ops/op_table.h"

namespace reprise::testing {

HostTensor FloatTensor(const Dims& dims, const std::vector<float>& values) {
  HostTensor tensor = HostTensor::Create(DType::kFp32, dims).value();
  EXPECT_EQ(static_cast<size_t>(tensor.elements()), values.size());
  std::copy(values.begin(), values.end(), tensor.values<float>().begin());
  return tensor;
}

HostTensor Int64Tensor(const Dims& dims, const std::vector<int64_t>& values) {
  HostTensor tensor = HostTensor::Create(DType::kInt64, dims).value();
  EXPECT_EQ(static_cast<size_t>(tensor.elements()), values.size());
  std::copy(values.begin(), values.end(), tensor.values<int64_t>().begin());
  return tensor;
}

NodeCase::NodeCase(std::string op, int version) {
  node_.op = std::move(op);
  node_.version = version;
  node_.outputs = {0};
}

NodeCase& NodeCase::In(Dims dims, DType dtype) {
  types_.push_back({dtype, std::move(dims)});
  view_.types.push_back(&types_.back());
  view_.constants.push_back(nullptr);
  return *this;
}

NodeCase& NodeCase::Known(HostTensor tensor) {
  In(tensor.dims(), tensor.dtype());
  constants_.push_back(std::move(tensor));
  view_.constants.back() = &constants_.back();
  return *this;
}

NodeCase& NodeCase::Ints(const std::vector<int64_t>& values) {
  return Known(Int64Tensor({static_cast<int64_t>(values.size())}, values));
}

NodeCase& NodeCase::Absent() {
  view_.types.push_back(nullptr);
  view_.constants.push_back(nullptr);
  return *this;
}

NodeCase& NodeCase::Outputs(int count) {
  node_.outputs.clear();
  for (int i = 0; i < count; ++i) node_.outputs.push_back(i);
  return *this;
}

const ops::NodeView& NodeCase::view() {
  view_.node = &node_;
  return view_;
}

absl::StatusOr<std::vector<ops::TensorType>> NodeCase::Infer() {
  REPRISE_ASSIGN_OR_RETURN(const ops::Op* op,
                           ops::FindOp(node_.domain, node_.op, node_.version));
  return op->infer(view());
}

Dims NodeCase::OutDims() {
  const absl::StatusOr<std::vector<ops::TensorType>> types = Infer();
  EXPECT_TRUE(types.ok()) << types.status();
  return types.ok() ? (*types)[0].dims : Dims{-99};
}

std::vector<int64_t> Carry(NodeCase& node, size_t i) {
  const auto types = node.Infer();
  EXPECT_TRUE(types.ok()) << types.status();
  const auto values = ops::CarryValues(node.view(), *types);
  EXPECT_TRUE(values.ok()) << values.status();
  if (!values.ok() || values->empty()) return {-999};
  EXPECT_EQ((*values)[i].dtype(), (*types)[i].dtype);
  EXPECT_EQ((*values)[i].dims(), (*types)[i].dims);
  if ((*values)[i].dtype() == DType::kBool) {
    const auto bools = (*values)[i].values<uint8_t>();
    return {bools.begin(), bools.end()};
  }
  if ((*values)[i].dtype() == DType::kFp32) {
    const auto floats = (*values)[i].values<float>();
    return {floats.begin(), floats.end()};
  }
  const auto ints = (*values)[i].values<int64_t>();
  return {ints.begin(), ints.end()};
}

graph::ValueId GraphBuilder::Id(const std::string& name) {
  if (name.empty()) return graph::kNoValue;
  for (size_t i = 0; i < graph_.values.size(); ++i) {
    if (graph_.values[i].name == name) return static_cast<graph::ValueId>(i);
  }
  graph_.values.push_back({});
  graph_.values.back().name = name;
  return static_cast<graph::ValueId>(graph_.values.size() - 1);
}

GraphBuilder& GraphBuilder::Input(const std::string& name, Dims dims,
                                  std::vector<std::string> symbols,
                                  DType dtype) {
  const graph::ValueId id = Id(name);
  graph::Value& value = graph_.values[static_cast<size_t>(id)];
  symbols.resize(dims.size());
  value.dtype = dtype;
  value.has_shape = true;
  value.dims = std::move(dims);
  value.symbols = std::move(symbols);
  graph_.inputs.push_back(id);
  return *this;
}

GraphBuilder& GraphBuilder::Constant(const std::string& name,
                                     HostTensor tensor) {
  graph::Value& value = graph_.values[static_cast<size_t>(Id(name))];
  value.dtype = tensor.dtype();
  value.has_shape = true;
  value.dims = tensor.dims();
  value.symbols.resize(value.dims.size());
  value.constant = std::make_shared<const HostTensor>(std::move(tensor));
  return *this;
}

GraphBuilder& GraphBuilder::Ints(const std::string& name,
                                 const std::vector<int64_t>& values) {
  return Constant(name,
                  Int64Tensor({static_cast<int64_t>(values.size())}, values));
}

GraphBuilder& GraphBuilder::Node(const std::string& op,
                                 const std::vector<std::string>& inputs,
                                 const std::vector<std::string>& outputs) {
  graph::Node node;
  node.op = op;
  node.version = opset_;
  node.index = static_cast<int>(graph_.nodes.size());
  for (const std::string& name : inputs) node.inputs.push_back(Id(name));
  for (const std::string& name : outputs) node.outputs.push_back(Id(name));
  graph_.nodes.push_back(std::move(node));
  return *this;
}

GraphBuilder& GraphBuilder::Output(const std::string& name) {
  graph_.outputs.push_back(Id(name));
  return *this;
}

GraphBuilder& GraphBuilder::Output(const std::string& name, Dims declared) {
  graph::Value& value = graph_.values[static_cast<size_t>(Id(name))];
  value.has_shape = true;
  value.symbols.resize(declared.size());
  value.dims = std::move(declared);
  return Output(name);
}

std::string WhyNotBatched(const graph::Graph& graph) {
  const absl::StatusOr<ops::InferredSignature> inferred =
      ops::InferSignature(graph, {});
  if (!inferred.ok()) return std::string(inferred.status().message());
  EXPECT_EQ(inferred->signature.batched, inferred->not_batched.empty());
  return inferred->not_batched;
}

std::string WhyNotBatched(const GraphBuilder& builder) {
  return WhyNotBatched(builder.Build());
}

}  // namespace reprise::testing
