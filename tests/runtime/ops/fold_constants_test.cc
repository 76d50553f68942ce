#include "runtime/ops/fold_constants.h"

#include <string>

#include "runtime/graph/print.h"
#include "tests/runtime/ops/ops_testing.h"
#include "tests/testing/status_matchers.h"

namespace reprise::ops {
namespace {

using testing::FloatTensor;
using testing::GraphBuilder;
using ::testing::HasSubstr;
using testing::StatusIs;

// Adds one to every element of input 0, whatever the node; counts its calls.
struct AddOne {
  mutable int calls = 0;
  absl::StatusOr<std::vector<HostTensor>> operator()(
      const NodeView& view, std::span<const TensorType> outputs) const {
    ++calls;
    absl::StatusOr<HostTensor> out =
        HostTensor::Create(outputs[0].dtype, outputs[0].dims);
    if (!out.ok()) return out.status();
    for (int64_t i = 0; i < out->elements(); ++i) {
      const size_t at = static_cast<size_t>(i);
      out->values<float>()[at] = view.constant(0)->values<float>()[at] + 1;
    }
    std::vector<HostTensor> values;
    values.push_back(*std::move(out));
    return values;
  }
};

absl::StatusOr<std::vector<HostTensor>> NoKernels(const NodeView&,
                                                  std::span<const TensorType>) {
  return absl::UnimplementedError("no kernels here");
}

// w -> Exp -> Exp -> (Add x): the chain of two folds, the Add stays.
graph::Graph Chain() {
  return GraphBuilder()
      .Input("x", {2})
      .Constant("w", FloatTensor({2}, {1, 2}))
      .Node("Exp", {"w"}, {"a"})
      .Node("Exp", {"a"}, {"b"})
      .Node("Add", {"x", "b"}, {"y"})
      .Output("y")
      .Build();
}

TEST(FoldConstantsTest, ChainsBecomeOneConstantAndLeaveNothingBehind) {
  graph::Graph graph = Chain();
  AddOne add_one;
  const auto result = FoldConstants(graph, {}, add_one);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->folded, 2);
  EXPECT_EQ(result->bytes, 8);
  EXPECT_EQ(add_one.calls, 2);
  EXPECT_EQ(graph::PrintGraph(graph),
            "input x FP32 [2]\n"
            "constant b FP32 [2]\n"
            "node 2 Add@17 (x, b) -> (y)\n"
            "output y FP32 ?\n");
  EXPECT_EQ(graph.values[1].constant->values<float>()[1], 4);
}

TEST(FoldConstantsTest, WhatTheDeviceCannotEvaluateStays) {
  graph::Graph graph = Chain();
  const auto result = FoldConstants(graph, {}, NoKernels);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->folded, 0);
  EXPECT_EQ(graph.nodes.size(), 3u);
  EXPECT_THAT(graph::PrintGraph(graph), HasSubstr("constant w"));
}

TEST(FoldConstantsTest, SmallIntegersNeedNoDevice) {
  graph::Graph graph = GraphBuilder()
                           .Input("x", {2, 3})
                           .Ints("a", {3})
                           .Ints("b", {2})
                           .Node("Concat", {"a", "b"}, {"shape"})
                           .Set("axis", int64_t{0})
                           .Node("Reshape", {"x", "shape"}, {"y"})
                           .Output("y")
                           .Build();
  ASSERT_TRUE(FoldConstants(graph, {}, NoKernels).ok());
  EXPECT_EQ(graph.nodes.size(), 1u);
}

TEST(FoldConstantsTest, ALargeValueIsLeftToRun) {
  graph::Graph graph = Chain();
  AddOne add_one;
  FoldOptions options;
  options.max_value_bytes = 7;
  const auto result = FoldConstants(graph, options, add_one);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->folded, 0);
  EXPECT_EQ(add_one.calls, 0);
}

TEST(FoldConstantsTest, TooMuchInAllIsRefusedWithTheNode) {
  // In the second step, both ends of it are alive: 16 bytes.
  graph::Graph enough = Chain();
  AddOne add_one;
  FoldOptions options;
  options.max_total_bytes = 16;
  EXPECT_TRUE(FoldConstants(enough, options, add_one).ok());
  graph::Graph graph = Chain();
  options.max_total_bytes = 15;
  EXPECT_THAT(FoldConstants(graph, options, add_one),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("node 1 (Exp): folding constants takes 16")));
}

TEST(FoldConstantsTest, EachChainEndsBeforeTheNextBegins) {
  // Two chains, their nodes interleaved: one intermediate alive at a time.
  graph::Graph graph = GraphBuilder()
                           .Input("x", {2})
                           .Constant("w", FloatTensor({2}, {1, 2}))
                           .Node("Exp", {"w"}, {"a1"})
                           .Node("Exp", {"w"}, {"b1"})
                           .Node("Exp", {"a1"}, {"a2"})
                           .Node("Exp", {"b1"}, {"b2"})
                           .Node("Sum", {"x", "a2", "b2"}, {"y"})
                           .Output("y")
                           .Build();
  AddOne add_one;
  FoldOptions options;
  options.max_total_bytes = 24;
  const auto result = FoldConstants(graph, options, add_one);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->folded, 4);
}

TEST(FoldConstantsTest, AnErrorOfTheDeviceNamesTheNode) {
  graph::Graph graph = Chain();
  const auto fail = [](const NodeView&, std::span<const TensorType>)
      -> absl::StatusOr<std::vector<HostTensor>> {
    return absl::InternalError("broken");
  };
  EXPECT_THAT(
      FoldConstants(graph, {}, fail),
      StatusIs(absl::StatusCode::kInternal, HasSubstr("node 0 (Exp): broken")));
}

TEST(FoldConstantsTest, AnOutputMayBeAConstant) {
  graph::Graph graph = GraphBuilder()
                           .Input("x", {2})
                           .Constant("w", FloatTensor({2}, {1, 2}))
                           .Node("Exp", {"w"}, {"y"})
                           .Node("Exp", {"x"}, {"unused"})
                           .Output("y")
                           .Build();
  AddOne add_one;
  ASSERT_TRUE(FoldConstants(graph, {}, add_one).ok());
  EXPECT_TRUE(graph.nodes.empty());
  EXPECT_THAT(graph::PrintGraph(graph), HasSubstr("constant y FP32 [2]"));
}

TEST(FoldConstantsTest, AxesBeyondTheBoundAreRefusedWithTheNode) {
  graph::Graph graph = GraphBuilder()
                           .Input("x", {2})
                           .Constant("w", FloatTensor({2}, {1, 2}))
                           .Ints("shape", {1, 1, 1, 1, 1, 1, 1, 1, 2})
                           .Node("Reshape", {"w", "shape"}, {"r"})
                           .Node("Add", {"x", "r"}, {"y"})
                           .Output("y")
                           .Build();
  EXPECT_THAT(FoldConstants(graph, {}, NoKernels),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("node 0 (Reshape): has a tensor of 9 axes")));
}

}  // namespace
}  // namespace reprise::ops
