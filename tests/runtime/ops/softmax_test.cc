#include "runtime/ops/softmax.h"

#include "tests/runtime/ops/ops_testing.h"
#include "tests/testing/status_matchers.h"

namespace reprise::ops {
namespace {

using testing::GraphBuilder;
using ::testing::HasSubstr;
using testing::NodeCase;
using testing::StatusIs;
using testing::WhyNotBatched;

TEST(SoftmaxTest, BelowOpset13EverythingFromTheAxisOnIsOneRow) {
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) {
    const auto params = ReadSoftmax(NodeCase(op, 11).In({2, 3, 4}).view());
    ASSERT_TRUE(params.ok()) << params.status();
    EXPECT_TRUE(params->flatten);
    EXPECT_EQ(params->outer, 2);
    EXPECT_EQ(params->length, 12);
    EXPECT_EQ(params->inner, 1);
  }
}

TEST(SoftmaxTest, FromOpset13TheAxisStandsAlone) {
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) {
    const auto params = ReadSoftmax(NodeCase(op, 13).In({2, 3, 4}).view());
    ASSERT_TRUE(params.ok()) << params.status();
    EXPECT_EQ(params->outer, 6);
    EXPECT_EQ(params->length, 4);
  }
  const auto inner = ReadSoftmax(
      NodeCase("Softmax", 13).In({2, 3, 4}).Set("axis", int64_t{1}).view());
  EXPECT_EQ(inner->outer, 2);
  EXPECT_EQ(inner->length, 3);
  EXPECT_EQ(inner->inner, 4);
}

TEST(SoftmaxTest, RefusesOtherDtypesAndAxes) {
  EXPECT_THAT(NodeCase("Softmax", 13).In({2}, DType::kInt64).Infer(),
              StatusIs(absl::StatusCode::kUnimplemented));
  EXPECT_THAT(
      NodeCase("Softmax", 13).In({2}).Set("axis", int64_t{1}).Infer(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("axis 1")));
}

TEST(SoftmaxBatchTest, TheSameNodeIsBatchableByItsOpset) {
  const auto graph = [](int opset, int64_t axis) {
    return GraphBuilder(opset)
        .Input("x", {-1, 3})
        .Node("Softmax", {"x"}, {"y"})
        .Set("axis", axis)
        .Output("y")
        .Build();
  };
  EXPECT_EQ(WhyNotBatched(graph(13, 1)), "");
  EXPECT_EQ(WhyNotBatched(graph(11, 1)), "");
  EXPECT_THAT(WhyNotBatched(graph(13, 0)),
              HasSubstr("normalises over the batch axis"));
  EXPECT_THAT(WhyNotBatched(graph(11, 0)),
              HasSubstr("normalises over the batch axis"));
}

}  // namespace
}  // namespace reprise::ops
