#include "runtime/cpu/work.h"

#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/ops/bound_graph.h"
#include "tests/runtime/cpu/model_fixture.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::OnnxBuilder;
using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// NodeWork of the last node of `builder` for one row.
int64_t WorkOfLast(const OnnxBuilder& builder) {
  const TestModel model = Import(builder, 1);
  const ops::BoundGraph bound =
      ops::Bind(*model.graph, model.signature, 1, {}).value();
  const int last = static_cast<int>(model.graph->nodes.size()) - 1;
  const graph::ValueId y = model.graph->nodes[last].outputs[0];
  return NodeWork(ops::ViewOf(bound, last), {&bound.types[y], 1});
}

OnnxBuilder Pool(std::vector<int64_t> kernel) {
  OnnxBuilder model(13);
  model.Input("x", {"N", 3, 8, 8})
      .Node("MaxPool", {"x"}, {"y"})
      .Ints("kernel_shape", std::move(kernel))
      .String("auto_pad", "SAME_UPPER")
      .Output("y", {"N", 3, 8, 8});
  return model;
}

TEST(WorkTest, APoolingComparesItsTaps) {
  EXPECT_EQ(WorkOfLast(Pool({2, 3})), 3 * 64 * 6);
}

TEST(WorkTest, TapsInThePaddingAreFree) {
  EXPECT_EQ(WorkOfLast(Pool({2, 0x7fffffff})), 3 * 64 * 2 * 8);
}

TEST(WorkTest, WhatDoesNotFitIsTheLargestNumber) {
  EXPECT_EQ(AddWork(2, 3), 5);
  EXPECT_EQ(AddWork(kMost, 1), kMost);
  EXPECT_EQ(MultiplyWork(2, 3), 6);
  EXPECT_EQ(MultiplyWork(kMost, 2), kMost);
}

TEST(WorkTest, MoreThanTheLimitIsRefusedWithBothNumbers) {
  const TestModel model = Import(Pool({2, 2}), 1);
  const ops::BoundGraph bound =
      ops::Bind(*model.graph, model.signature, 1, {}).value();
  const graph::ValueId y = model.graph->nodes[0].outputs[0];
  const auto check = [&](int64_t limit) {
    return CheckWork(ops::ViewOf(bound, 0), {&bound.types[y], 1}, limit);
  };
  EXPECT_THAT(check(768), IsOk());
  EXPECT_THAT(check(767),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("768")));
}

}  // namespace
}  // namespace reprise::cpu
