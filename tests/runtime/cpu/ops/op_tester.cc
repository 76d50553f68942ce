#include "tests/runtime/cpu/ops/op_tester.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/status_macros.h"
#include "runtime/cpu/cpu_lowering.h"
#include "runtime/cpu/evaluate.h"
#include "runtime/cpu/program.h"
#include "runtime/ops/bound_graph.h"
#include "runtime/ops/node_view.h"
#include "runtime/ops/op_table.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {

using ::reprise::testing::IsOk;
using ::testing::HasSubstr;
using ::testing::Not;

HostTensor F32(Dims dims, const std::vector<float>& values) {
  return TensorOf(DType::kFp32, std::move(dims), values);
}
HostTensor I64(Dims dims, const std::vector<int64_t>& values) {
  return TensorOf(DType::kInt64, std::move(dims), values);
}
HostTensor I32(Dims dims, const std::vector<int32_t>& values) {
  return TensorOf(DType::kInt32, std::move(dims), values);
}
HostTensor Bool(Dims dims, const std::vector<uint8_t>& values) {
  return TensorOf(DType::kBool, std::move(dims), values);
}

HostTensor Noise(Dims dims, unsigned seed) {
  HostTensor tensor = HostTensor::Create(DType::kFp32, std::move(dims)).value();
  unsigned state = seed * 2654435761u + 12345u;
  for (float& value : tensor.values<float>()) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) * 0x1p-23F - 1.0F;
  }
  return tensor;
}

OpTester::OpTester(const std::string& op, int version) {
  node_.op = op;
  node_.version = version;
}

OpTester& OpTester::In(HostTensor tensor) {
  inputs_.push_back(std::make_shared<const HostTensor>(std::move(tensor)));
  return *this;
}

OpTester& OpTester::Absent() {
  inputs_.push_back(nullptr);
  return *this;
}

OpTester& OpTester::Set(const std::string& name, graph::AttributeValue value) {
  node_.attributes.Set(name, std::move(value));
  return *this;
}

OpTester& OpTester::Outputs(int count) {
  outputs_ = count;
  return *this;
}

absl::StatusOr<std::vector<HostTensor>> OpTester::Evaluate() const {
  graph::Node node = node_;
  std::vector<ops::TensorType> types(inputs_.size());
  ops::NodeView view;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i] != nullptr) {
      types[i] = {inputs_[i]->dtype(), inputs_[i]->dims()};
    }
    view.types.push_back(inputs_[i] != nullptr ? &types[i] : nullptr);
    view.constants.push_back(inputs_[i].get());
    node.inputs.push_back(inputs_[i] != nullptr ? static_cast<int>(i)
                                                : graph::kNoValue);
  }
  for (int k = 0; k < outputs_; ++k) {
    node.outputs.push_back(static_cast<int>(inputs_.size()) + k);
  }
  view.node = &node;
  REPRISE_ASSIGN_OR_RETURN(const ops::Op* op,
                           ops::FindOp("", node.op, node.version));
  REPRISE_ASSIGN_OR_RETURN(std::vector<ops::TensorType> outputs,
                           op->infer(view));
  outputs.resize(static_cast<size_t>(outputs_));
  return EvaluateNode(view, outputs);
}

HostTensor OpTester::Result() const {
  auto outputs = Evaluate();
  EXPECT_THAT(outputs, IsOk()) << node_.op;
  if (!outputs.ok() || outputs->empty()) return {};
  return std::move((*outputs)[0]);
}

OpTester::OneNode OpTester::MakeGraph(const std::vector<HostTensor>& expected,
                                      const std::set<size_t>& computed) const {
  OneNode one;
  auto& [graph, signature, slot_inputs] = one;
  graph::Node node = node_;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i] == nullptr) {
      node.inputs.push_back(graph::kNoValue);
      continue;
    }
    graph::Value value;
    value.name = absl::StrCat("in", i);
    value.dtype = inputs_[i]->dtype();
    value.has_shape = true;
    value.dims = inputs_[i]->dims();
    value.symbols.assign(value.dims.size(), "");
    const auto id = static_cast<graph::ValueId>(graph.values.size());
    if (computed.contains(i)) {
      graph.inputs.push_back(id);
      signature.inputs.push_back(
          {value.name, value.dtype, value.dims, value.symbols});
      slot_inputs.push_back(
          const_cast<std::byte*>(inputs_[i]->bytes().data()));  // NOLINT
    } else {
      value.constant = inputs_[i];
    }
    node.inputs.push_back(id);
    graph.values.push_back(std::move(value));
  }
  for (int k = 0; k < outputs_; ++k) {
    const auto id = static_cast<graph::ValueId>(graph.values.size());
    graph.values.emplace_back();
    graph.values.back().name = absl::StrCat("out", k);
    node.outputs.push_back(id);
    graph.outputs.push_back(id);
    const HostTensor& like = expected[static_cast<size_t>(k)];
    signature.outputs.push_back({graph.values.back().name, like.dtype(),
                                 like.dims(),
                                 std::vector<std::string>(like.dims().size())});
  }
  graph.nodes.push_back(std::move(node));
  return one;
}

absl::StatusOr<OpTester::Lowered> OpTester::Lower(
    bool use_onednn, const std::set<size_t>& computed) const {
  REPRISE_ASSIGN_OR_RETURN(const std::vector<HostTensor> expected, Evaluate());
  const auto [graph, signature, slot_inputs] = MakeGraph(expected, computed);
  REPRISE_ASSIGN_OR_RETURN(const ops::BoundGraph bound,
                           ops::Bind(graph, signature, 1, {}));
  REPRISE_ASSIGN_OR_RETURN(const std::shared_ptr<OneDnn> dnn, OneDnn::Create());
  Weights weights(graph);
  REPRISE_ASSIGN_OR_RETURN(
      Program program,
      cpu::Lower(bound, dnn, weights, {.use_onednn = use_onednn}));
  Lowered lowered;
  lowered.plan = plan::PlanText(program.plan);
  std::vector<std::byte*> slot_outputs;
  for (const graph::ValueId id : graph.outputs) {
    REPRISE_ASSIGN_OR_RETURN(
        HostTensor tensor,
        HostTensor::Create(bound.types[id].dtype, bound.types[id].dims));
    slot_outputs.push_back(tensor.bytes().data());
    lowered.outputs.push_back(std::move(tensor));
  }
  AlignedBuffer arena(static_cast<size_t>(program.plan.arena_bytes));
  Runner runner(std::move(program), arena.data());
  REPRISE_RETURN_IF_ERROR(runner.Run({slot_inputs, slot_outputs}));
  return lowered;
}

void OpTester::ExpectSame(const Lowered& lowered) const {
  auto expected = Evaluate();
  ASSERT_THAT(expected, IsOk()) << node_.op;
  for (size_t k = 0; k < expected->size(); ++k) {
    const HostTensor& want = (*expected)[k];
    const HostTensor& have = lowered.outputs[k];
    ASSERT_EQ(have.dims(), want.dims());
    if (want.dtype() != DType::kFp32) {
      EXPECT_TRUE(std::ranges::equal(have.bytes(), want.bytes()));
      continue;
    }
    for (size_t i = 0; i < want.values<float>().size(); ++i) {
      const float w = want.values<float>()[i];
      ASSERT_NEAR(have.values<float>()[i], w, 1e-5F + 1e-4F * std::abs(w))
          << node_.op << " output " << k << " element " << i << "\n"
          << lowered.plan;
    }
  }
}

void OpTester::ExpectOneDnn(const std::string& step,
                            const std::set<size_t>& computed) const {
  auto lowered = Lower(/*use_onednn=*/true, computed);
  ASSERT_THAT(lowered, IsOk()) << node_.op;
  EXPECT_THAT(lowered->plan, HasSubstr(step + ":"));
  ExpectSame(*lowered);
}

void OpTester::ExpectPlain(const std::set<size_t>& computed) const {
  auto lowered = Lower(/*use_onednn=*/true, computed);
  ASSERT_THAT(lowered, IsOk()) << node_.op;
  EXPECT_THAT(lowered->plan, Not(HasSubstr(node_.op + ":")));
  ExpectSame(*lowered);
}

}  // namespace reprise::cpu
