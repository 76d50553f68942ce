#include "tests/runtime/cpu/ops/op_tester.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/status_macros.h"
#include "runtime/cpu/cpu_lowering.h"
#include "runtime/cpu/program.h"
#include "runtime/ops/bound_graph.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {

using ::reprise::testing::IsOk;
using ::testing::HasSubstr;
using ::testing::Not;

HostTensor Bool(Dims dims, const std::vector<uint8_t>& values) {
  return TensorOf(DType::kBool, std::move(dims), values);
}

OpTester::OpTester(const std::string& op, int version) {
  node_.node.op = op;
  node_.node.version = version;
}

OpTester& OpTester::In(HostTensor tensor) {
  node_.inputs.push_back(std::make_shared<const HostTensor>(std::move(tensor)));
  return *this;
}

OpTester& OpTester::Absent() {
  node_.inputs.push_back(nullptr);
  return *this;
}

OpTester& OpTester::Set(const std::string& name, graph::AttributeValue value) {
  node_.node.attributes.Set(name, std::move(value));
  return *this;
}

OpTester& OpTester::Outputs(int count) {
  node_.outputs = count;
  return *this;
}

HostTensor OpTester::Result() const {
  auto outputs = Evaluate();
  EXPECT_THAT(outputs, IsOk()) << node_.node.op;
  if (!outputs.ok() || outputs->empty()) return {};
  return std::move((*outputs)[0]);
}

absl::StatusOr<OpTester::Lowered> OpTester::Lower(
    bool use_onednn, const std::set<size_t>& computed) const {
  std::set<size_t> weights_of;
  for (size_t i = 0; i < node_.inputs.size(); ++i) {
    if (!computed.contains(i)) weights_of.insert(i);
  }
  const auto [graph, signature, slot_inputs] = node_.MakeGraph(weights_of);
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
  ASSERT_THAT(expected, IsOk()) << node_.node.op;
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
          << node_.node.op << " output " << k << " element " << i << "\n"
          << lowered.plan;
    }
  }
}

void OpTester::ExpectOneDnn(const std::string& step,
                            const std::set<size_t>& computed) const {
  auto lowered = Lower(/*use_onednn=*/true, computed);
  ASSERT_THAT(lowered, IsOk()) << node_.node.op;
  EXPECT_THAT(lowered->plan, HasSubstr(step + ":"));
  ExpectSame(*lowered);
}

void OpTester::ExpectPlain(const std::set<size_t>& computed) const {
  auto lowered = Lower(/*use_onednn=*/true, computed);
  ASSERT_THAT(lowered, IsOk()) << node_.node.op;
  EXPECT_THAT(lowered->plan, Not(HasSubstr(node_.node.op + ":")));
  ExpectSame(*lowered);
}

}  // namespace reprise::cpu
