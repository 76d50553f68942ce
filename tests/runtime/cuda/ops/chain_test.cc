#include "runtime/cuda/ops/chain.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/cpu/model_fixture.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::OnnxBuilder;
using ::testing::ElementsAre;

// The nodes of each chain that is found in `builder` for two rows.
std::vector<std::vector<int>> ChainsOf(const OnnxBuilder& builder,
                                       Precision precision = Precision::kFp32) {
  const cpu::TestModel model = cpu::Import(builder, 2);
  const auto bound = ops::Bind(*model.graph, model.signature, 2, {});
  EXPECT_THAT(bound, IsOk());
  CudaWeights weights;
  const LoweringContext context(*bound, weights, {.precision = precision});
  std::vector<std::vector<int>> chains;
  for (const NodeChain& chain : FindChains(context)) {
    chains.push_back(chain.nodes);
  }
  return chains;
}

OnnxBuilder Start() {
  OnnxBuilder model(17);
  model.Input("x", {"N", 8})
      .Floats("two", {}, {2})
      .Floats("w", {8}, {1, 2, 3, 4, 5, 6, 7, 8});
  return model;
}

TEST(ChainTest, NeighboursWithoutOtherReadersAreOneChain) {
  OnnxBuilder model = Start();
  model.Node("Div", {"x", "two"}, {"a"})
      .Node("Erf", {"a"}, {"b"})
      .Node("Mul", {"x", "b"}, {"y"})
      .Output("y", {"N", 8});
  EXPECT_THAT(ChainsOf(model), ElementsAre(ElementsAre(0, 1, 2)));
  EXPECT_THAT(ChainsOf(model, Precision::kBf16),
              ElementsAre(ElementsAre(0, 1, 2)));
}

TEST(ChainTest, AValueReadTwiceWithinIsInside) {
  OnnxBuilder model = Start();
  model.Node("Mul", {"x", "w"}, {"a"})
      .Node("Sigmoid", {"a"}, {"b"})
      .Node("Mul", {"a", "b"}, {"y"})
      .Output("y", {"N", 8});
  EXPECT_THAT(ChainsOf(model), ElementsAre(ElementsAre(0, 1, 2)));
}

TEST(ChainTest, AValueReadOutsideEndsAChain) {
  OnnxBuilder model = Start();
  model.Node("Mul", {"x", "w"}, {"a"})
      .Node("Relu", {"a"}, {"b"})
      .Node("Softmax", {"b"}, {"s"})
      .Node("Add", {"b", "s"}, {"c"})
      .Node("Relu", {"c"}, {"y"})
      .Output("y", {"N", 8});
  EXPECT_THAT(ChainsOf(model),
              ElementsAre(ElementsAre(0, 1), ElementsAre(3, 4)));
}

TEST(ChainTest, AnOutputOfTheModelIsStored) {
  OnnxBuilder model = Start();
  model.Node("Mul", {"x", "w"}, {"a"})
      .Node("Relu", {"a"}, {"b"})
      .Node("Exp", {"b"}, {"y"})
      .Output("b", {"N", 8})
      .Output("y", {"N", 8});
  EXPECT_THAT(ChainsOf(model), ElementsAre(ElementsAre(0, 1)));
}

TEST(ChainTest, WhatIsSmallerThanTheResultIsMadeBefore) {
  OnnxBuilder model = Start();
  model.Input("v", {"N", 1})
      .Node("Add", {"v", "two"}, {"a"})
      .Node("Sqrt", {"a"}, {"b"})
      .Node("Div", {"x", "b"}, {"c"})
      .Node("Mul", {"c", "w"}, {"y"})
      .Output("y", {"N", 8});
  EXPECT_THAT(ChainsOf(model),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
}

TEST(ChainTest, OtherTypesFunctionsAndLoneNodesStayAlone) {
  OnnxBuilder model = Start();
  model.Input("i", {"N", 8}, OnnxBuilder::kInt64)
      .Node("Add", {"i", "i"}, {"j"})
      .Node("Mul", {"j", "i"}, {"k"})
      .Node("Relu", {"x"}, {"a"})
      .Node("Asin", {"a"}, {"b"})
      .Node("Pow", {"b", "w"}, {"y"})
      .Output("y", {"N", 8})
      .Output("k", {"N", 8}, OnnxBuilder::kInt64);
  EXPECT_THAT(ChainsOf(model), ElementsAre());
}

TEST(ChainTest, NoMoreInputsThanAKernelHas) {
  OnnxBuilder model(17);
  model.Input("x0", {"N", 8});
  std::string sum = "x0";
  for (int i = 1; i <= 12; ++i) {
    const std::string input = "x" + std::to_string(i);
    const std::string next = "s" + std::to_string(i);
    model.Input(input, {"N", 8}).Node("Add", {sum, input}, {next});
    sum = next;
  }
  model.Output(sum, {"N", 8});
  EXPECT_THAT(ChainsOf(model), ElementsAre(ElementsAre(0, 1, 2, 3, 4),
                                           ElementsAre(5, 6, 7, 8, 9, 10, 11)));
}

}  // namespace
}  // namespace reprise::cuda
