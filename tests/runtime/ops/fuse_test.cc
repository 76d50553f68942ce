#include "runtime/ops/fuse.h"

#include <cmath>
#include <limits>
#include <string>

#include "runtime/ops/activation.h"
#include "tests/runtime/ops/ops_testing.h"
#include "tests/testing/status_matchers.h"

namespace reprise::ops {
namespace {

using ::testing::ElementsAre;
using testing::FloatTensor;
using testing::GraphBuilder;
using ::testing::HasSubstr;

// x [N,1,4] -> Conv to 2 channels, not yet followed by anything.
GraphBuilder Conv(int opset = 13) {
  GraphBuilder builder(opset);
  builder.Input("x", {-1, 1, 4})
      .Constant("w", FloatTensor({2, 1, 1}, {1, 2}))
      .Constant("b", FloatTensor({2}, {10, 20}))
      .Node("Conv", {"x", "w", "b"}, {"c"});
  return builder;
}

struct Result {
  graph::Graph graph;
  std::vector<FuseNote> notes;
};

Result FuseGraph(const GraphBuilder& builder, const FuseOptions& options = {}) {
  Result result{builder.Build(), {}};
  absl::StatusOr<std::vector<FuseNote>> notes = Fuse(result.graph, options);
  EXPECT_TRUE(notes.ok()) << notes.status();
  if (notes.ok()) result.notes = *std::move(notes);
  return result;
}

// The only note's reason; "fused" if it says so.
std::string Verdict(const GraphBuilder& builder,
                    const FuseOptions& options = {}) {
  const Result result = FuseGraph(builder, options);
  EXPECT_EQ(result.notes.size(), 1u);
  if (result.notes.empty()) return "no note";
  EXPECT_EQ(result.notes[0].fused, result.notes[0].reason.empty());
  return result.notes[0].fused ? "fused" : result.notes[0].reason;
}

std::vector<float> InputValues(const graph::Graph& graph, size_t input) {
  const graph::ValueId id = graph.nodes[0].inputs[input];
  const auto values =
      graph.values[static_cast<size_t>(id)].constant->values<float>();
  return {values.begin(), values.end()};
}

TEST(FuseBiasTest, AddsUpPerChannel) {
  const Result result =
      FuseGraph(Conv()
                    .Constant("d", FloatTensor({1, 2, 1}, {1, 2}))
                    .Node("Add", {"d", "c"}, {"y"})
                    .Output("y"));
  ASSERT_EQ(result.graph.nodes.size(), 1u);
  EXPECT_THAT(InputValues(result.graph, 2), ElementsAre(11, 22));
  EXPECT_EQ(result.graph.nodes[0].outputs, result.graph.outputs);
  EXPECT_EQ(result.notes[0].node, "node 0 (Conv)");
  EXPECT_EQ(result.notes[0].follower, "node 1 (Add)");
}

TEST(FuseBiasTest, AConvWithoutBiasGetsOneAndAScalarGoesToAllChannels) {
  const Result result =
      FuseGraph(GraphBuilder(13)
                    .Input("x", {-1, 1, 4})
                    .Constant("w", FloatTensor({2, 1, 1}, {1, 2}))
                    .Node("Conv", {"x", "w"}, {"c"})
                    .Constant("d", FloatTensor({}, {3}))
                    .Node("Add", {"c", "d"}, {"y"})
                    .Output("y"));
  ASSERT_EQ(result.graph.nodes.size(), 1u);
  EXPECT_THAT(InputValues(result.graph, 2), ElementsAre(3, 3));
}

TEST(FuseBiasTest, OnlyOneNumberPerChannelIsABias) {
  const auto verdict = [](HostTensor addend) {
    return Verdict(Conv()
                       .Constant("d", std::move(addend))
                       .Node("Add", {"c", "d"}, {"y"})
                       .Output("y"));
  };
  const std::string no = "what is added is not one number a channel";
  EXPECT_EQ(verdict(FloatTensor({1, 1, 4}, {1, 2, 3, 4})), no);
  EXPECT_EQ(verdict(FloatTensor({2}, {1, 2})), no);  // along the last axis
  EXPECT_EQ(verdict(FloatTensor({1, 1, 2, 1}, {1, 2})), no);  // a higher rank
  EXPECT_EQ(verdict(FloatTensor({3, 1, 1}, {1, 2, 3})), no);  // grows axis 0
  EXPECT_EQ(verdict(FloatTensor({2, 1}, {1, 2})), "fused");
}

TEST(FuseBiasTest, WhatIsAddedMustBeConstant) {
  EXPECT_EQ(Verdict(Conv().Node("Add", {"c", "c"}, {"y"}).Output("y")),
            "what is added is not a constant");
}

TEST(FuseBiasTest, MatMulTakesOnlyAVectorAndGemmARowToo) {
  const auto verdict = [](const std::string& op, HostTensor addend) {
    return Verdict(GraphBuilder(13)
                       .Input("x", {-1, 1})
                       .Constant("w", FloatTensor({1, 2}, {1, 2}))
                       .Node(op, {"x", "w"}, {"c"})
                       .Constant("d", std::move(addend))
                       .Node("Add", {"c", "d"}, {"y"})
                       .Output("y"));
  };
  EXPECT_EQ(verdict("MatMul", FloatTensor({2}, {1, 2})), "fused");
  EXPECT_NE(verdict("MatMul", FloatTensor({1, 2}, {1, 2})), "fused");
  EXPECT_EQ(verdict("Gemm", FloatTensor({1, 2}, {1, 2})), "fused");
  EXPECT_NE(verdict("Gemm", FloatTensor({2, 1}, {1, 2})), "fused");
}

TEST(FuseBiasTest, AScaledGemmBiasStays) {
  EXPECT_EQ(Verdict(GraphBuilder(13)
                        .Input("x", {-1, 1})
                        .Constant("w", FloatTensor({1, 2}, {1, 2}))
                        .Constant("c0", FloatTensor({2}, {1, 2}))
                        .Node("Gemm", {"x", "w", "c0"}, {"c"})
                        .Set("beta", 0.5f)
                        .Constant("d", FloatTensor({2}, {1, 2}))
                        .Node("Add", {"c", "d"}, {"y"})
                        .Output("y")),
            "the bias is scaled");
}

GraphBuilder WithNorm(HostTensor scale, float epsilon = 0) {
  GraphBuilder builder = Conv();
  builder.Constant("scale", std::move(scale))
      .Constant("shift", FloatTensor({2}, {1, 2}))
      .Constant("mean", FloatTensor({2}, {10, 0}))
      .Constant("var", FloatTensor({2}, {4, 1}))
      .Node("BatchNormalization", {"c", "scale", "shift", "mean", "var"}, {"y"})
      .Set("epsilon", epsilon)
      .Output("y");
  return builder;
}

TEST(FuseBatchNormTest, ScalesWeightsAndBias) {
  const Result result = FuseGraph(WithNorm(FloatTensor({2}, {2, 3})));
  ASSERT_EQ(result.graph.nodes.size(), 1u);
  EXPECT_THAT(InputValues(result.graph, 1), ElementsAre(1, 6));
  EXPECT_THAT(InputValues(result.graph, 2), ElementsAre(1, 62));
}

TEST(FuseBatchNormTest, ScalesThatAreNotFiniteStay) {
  const float huge = std::numeric_limits<float>::max();
  EXPECT_EQ(Verdict(WithNorm(FloatTensor({2}, {2, huge}))),
            "the scaled weights are not finite");
}

TEST(FuseBatchNormTest, ParametersMustBeConstant) {
  GraphBuilder builder = Conv();
  builder.Input("scale", {2})
      .Constant("s", FloatTensor({2}, {1, 2}))
      .Node("BatchNormalization", {"c", "scale", "s", "s", "s"}, {"y"})
      .Output("y");
  EXPECT_THAT(Verdict(builder), HasSubstr("input 1 of it is not an FP32"));
}

TEST(FuseActivationTest, BecomesAnAttribute) {
  const auto activation = [](const std::string& op) {
    const Result result = FuseGraph(Conv().Node(op, {"c"}, {"y"}).Output("y"));
    EXPECT_EQ(result.graph.nodes.size(), 1u) << op;
    return ReadActivation(result.graph.nodes[0]).value();
  };
  EXPECT_EQ(activation("Relu").kind, ActivationKind::kRelu);
  EXPECT_EQ(activation("LeakyRelu").alpha, 0.01f);
  EXPECT_EQ(activation("HardSigmoid").beta, 0.5f);
  EXPECT_EQ(activation("Tanh").kind, ActivationKind::kTanh);
}

TEST(FuseActivationTest, ClipTakesItsBoundsAlong) {
  const Result result = FuseGraph(Conv()
                                      .Constant("low", FloatTensor({}, {0}))
                                      .Constant("high", FloatTensor({}, {6}))
                                      .Node("Clip", {"c", "low", "high"}, {"y"})
                                      .Output("y"));
  ASSERT_EQ(result.graph.nodes.size(), 1u);
  const Activation clip = ReadActivation(result.graph.nodes[0]).value();
  EXPECT_EQ(clip.kind, ActivationKind::kClip);
  EXPECT_EQ(clip.alpha, 0);
  EXPECT_EQ(clip.beta, 6);
}

TEST(FuseActivationTest, ComputedOrReversedBoundsStay) {
  EXPECT_THAT(Verdict(Conv()
                          .Input("low", {})
                          .Node("Clip", {"c", "low"}, {"y"})
                          .Output("y")),
              HasSubstr("'min' is not a constant"));
  EXPECT_EQ(Verdict(Conv()
                        .Constant("low", FloatTensor({}, {6}))
                        .Constant("high", FloatTensor({}, {0}))
                        .Node("Clip", {"c", "low", "high"}, {"y"})
                        .Output("y")),
            "its bounds are reversed");
  EXPECT_EQ(Verdict(Conv()
                        .Constant("data", FloatTensor({}, {6}))
                        .Node("Clip", {"data", "c"}, {"y"})
                        .Output("y")),
            "it reads it as a parameter");
}

TEST(FuseActivationTest, SiluIsTwoNodes) {
  const GraphBuilder silu = Conv()
                                .Node("Sigmoid", {"c"}, {"s"})
                                .Node("Mul", {"c", "s"}, {"y"})
                                .Output("y");
  const Result result = FuseGraph(silu);
  ASSERT_EQ(result.graph.nodes.size(), 1u);
  EXPECT_EQ(ReadActivation(result.graph.nodes[0])->kind, ActivationKind::kSilu);
  GraphBuilder shared = silu;
  shared.Output("s");
  EXPECT_THAT(Verdict(shared), HasSubstr("has other readers or is an output"));
}

TEST(FuseActivationTest, WeightsMustBeConstant) {
  EXPECT_EQ(Verdict(GraphBuilder(13)
                        .Input("x", {-1, 2})
                        .Input("w", {2, 2})
                        .Node("MatMul", {"x", "w"}, {"c"})
                        .Node("Relu", {"c"}, {"y"})
                        .Output("y")),
            "the weights are not FP32 constants");
}

TEST(FuseTest, EachFollowerInTurn) {
  GraphBuilder builder = WithNorm(FloatTensor({2}, {2, 3}));
  graph::Graph graph = GraphBuilder(builder)
                           .Constant("d", FloatTensor({2, 1}, {1, 1}))
                           .Node("Add", {"y", "d"}, {"a"})
                           .Node("Relu", {"a"}, {"r"})
                           .Build();
  graph.outputs = {graph.nodes.back().outputs[0]};
  ASSERT_TRUE(Fuse(graph, {}).ok());
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_THAT(InputValues(graph, 2), ElementsAre(2, 63));
}

TEST(FuseTest, NothingFollowsAnActivation) {
  const Result result = FuseGraph(
      Conv().Node("Relu", {"c"}, {"r"}).Node("Tanh", {"r"}, {"y"}).Output("y"));
  EXPECT_EQ(result.graph.nodes.size(), 2u);
}

TEST(FuseTest, AValueWithOtherReadersStays) {
  EXPECT_EQ(Verdict(Conv()
                        .Node("Relu", {"c"}, {"y"})
                        .Node("Exp", {"c"}, {"z"})
                        .Node("Neg", {"c"}, {"n"})
                        .Output("y")
                        .Output("z")
                        .Output("n")),
            "the value between has other readers");
}

TEST(FuseTest, AnOutputOfTheModelStays) {
  EXPECT_EQ(Verdict(Conv().Node("Relu", {"c"}, {"y"}).Output("y").Output("c")),
            "the value between is an output of the model");
}

TEST(FuseTest, EachSwitchWorks) {
  FuseOptions options;
  options.activation = false;
  EXPECT_EQ(Verdict(Conv().Node("Relu", {"c"}, {"y"}).Output("y"), options),
            "switched off");
  options = {};
  options.bias = false;
  EXPECT_EQ(Verdict(Conv()
                        .Constant("d", FloatTensor({}, {3}))
                        .Node("Add", {"c", "d"}, {"y"})
                        .Output("y"),
                    options),
            "switched off");
  options = {};
  options.batch_norm = false;
  EXPECT_EQ(Verdict(WithNorm(FloatTensor({2}, {2, 3})), options),
            "switched off");
}

TEST(FuseTest, SharedWeightsAreCopiedNotChanged) {
  graph::Graph graph = WithNorm(FloatTensor({2}, {2, 3}))
                           .Node("Conv", {"x", "w"}, {"other"})
                           .Output("other")
                           .Build();
  ASSERT_TRUE(Fuse(graph, {}).ok());
  ASSERT_EQ(graph.nodes.size(), 2u);
  const graph::ValueId w = graph.nodes[1].inputs[1];
  EXPECT_EQ(graph.values[static_cast<size_t>(w)].constant->values<float>()[1],
            2);
}

}  // namespace
}  // namespace reprise::ops
