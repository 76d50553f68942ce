#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/cpu/kernel.h"
#include "runtime/graph/graph.h"
#include "runtime/ops/op_table.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;

TEST(PlainKernelsTest, EveryOperatorOfTheTableHasALoop) {
  for (const absl::string_view op : ops::OpNames()) {
    EXPECT_TRUE(HasPlainKernel(op)) << op;
  }
}

TEST(PlainKernelsTest, RefusesOthersByName) {
  EXPECT_FALSE(HasPlainKernel("Loop"));
  graph::Node node;
  node.op = "Loop";
  ops::NodeView view;
  view.node = &node;
  EXPECT_THAT(MakePlainKernel({view, {}}),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("Loop")));
}

}  // namespace
}  // namespace reprise::cpu
