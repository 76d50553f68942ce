#include "runtime/cpu/lowering_context.h"

#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;

// x (input) -> y (output), both [2, 16, 3, 3].
class LoweringContextTest : public ::testing::Test {
 protected:
  static graph::Graph MakeGraph() {
    graph::Graph graph;
    graph.values.resize(2);
    graph.values[0].name = "x";
    graph.values[1].name = "y";
    graph.inputs = {0};
    graph.outputs = {1};
    return graph;
  }
  static ops::BoundGraph Bound(const graph::Graph& graph) {
    ops::BoundGraph bound;
    bound.graph = &graph;
    bound.types.assign(2, {DType::kFp32, {2, 16, 3, 3}});
    bound.constants.resize(2);
    return bound;
  }

  const graph::Graph graph_ = MakeGraph();
  const ops::BoundGraph bound_ = Bound(graph_);
  const Layout blocked_{dnnl::memory::dims{2, 16, 3, 3},
                        dnnl::memory::data_type::f32,
                        dnnl::memory::format_tag::nChw16c};
  Weights weights_{graph_};
  LoweringContext context_{bound_, OneDnn::Create().value(), weights_};
};

TEST_F(LoweringContextTest, AddsAReorderOnceForEachLayout) {
  EXPECT_FALSE(context_.IsBlocked(0));
  auto first = context_.In(0, blocked_);
  ASSERT_THAT(first, IsOk());
  auto second = context_.In(0, blocked_);
  EXPECT_EQ(*first, *second);
  EXPECT_NE(*context_.Plain(0), *first);
  context_.AddStep("Use", {}, {*first}, {context_.Define(1)});
  auto program = context_.Finish();
  ASSERT_THAT(program, IsOk());
  EXPECT_EQ(program->plan.steps.size(), 2);
}

TEST_F(LoweringContextTest, WhatIsMadeInBlocksIsReorderedForTheSlot) {
  context_.AddStep("Make", {}, {*context_.Plain(0)},
                   {context_.DefineIn(1, blocked_)});
  EXPECT_TRUE(context_.IsBlocked(1));
  EXPECT_TRUE(SameLayout(*context_.MadeIn(1), blocked_));
  auto program = context_.Finish();
  ASSERT_THAT(program, IsOk());
  EXPECT_THAT(plan::PlanText(program->plan),
              HasSubstr("step 1 Reorder(y#1) -> y\n"));
  EXPECT_THAT(plan::PlanText(program->plan),
              HasSubstr("buffer y 1152 bytes: slot output 0"));
}

TEST_F(LoweringContextTest, ReadingWhatNobodyMadeIsAnError) {
  EXPECT_THAT(context_.Plain(1),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("'y'")));
}

}  // namespace
}  // namespace reprise::cpu
