#include "runtime/ops/norm.h"

#include "tests/runtime/ops/ops_testing.h"
#include "tests/testing/status_matchers.h"

namespace reprise::ops {
namespace {

using testing::FloatTensor;
using testing::GraphBuilder;
using ::testing::HasSubstr;
using testing::NodeCase;
using testing::StatusIs;
using testing::WhyNotBatched;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

NodeCase BatchNorm(int version) {
  NodeCase node("BatchNormalization", version);
  node.In({2, 3, 4}).In({3}).In({3}).In({3}).In({3});
  return node;
}

TEST(BatchNormTest, ServesInferenceOnly) {
  EXPECT_EQ(BatchNorm(9).OutDims(), (Dims{2, 3, 4}));
  EXPECT_EQ(ReadBatchNorm(BatchNorm(9).view())->epsilon, 1e-5f);
  EXPECT_THAT(BatchNorm(15).Set("training_mode", int64_t{1}).Infer(),
              StatusIs(kUnimplemented, HasSubstr("training_mode")));
  EXPECT_THAT(BatchNorm(7).Outputs(3).Infer(),
              StatusIs(kUnimplemented, HasSubstr("training only")));
}

TEST(BatchNormTest, SpatialZeroBelowOpset9IsRefused) {
  EXPECT_THAT(BatchNorm(7).Set("spatial", int64_t{0}).Infer(),
              StatusIs(kUnimplemented, HasSubstr("spatial")));
  EXPECT_THAT(BatchNorm(9).Set("spatial", int64_t{0}).Infer(), testing::IsOk());
}

TEST(BatchNormTest, ParametersArePerChannel) {
  EXPECT_THAT(NodeCase("BatchNormalization", 9)
                  .In({2, 3, 4})
                  .In({3})
                  .In({3})
                  .In({4})
                  .In({3})
                  .Infer(),
              StatusIs(kInvalid, HasSubstr("input 3 [4] is not [3]")));
}

TEST(LrnTest, SizeIsRequired) {
  EXPECT_THAT(NodeCase("LRN", 13).In({1, 3, 4}).Infer(),
              StatusIs(kInvalid, HasSubstr("'size'")));
  const auto params =
      ReadLrn(NodeCase("LRN", 13).In({1, 3, 4}).Set("size", int64_t{5}).view());
  ASSERT_TRUE(params.ok()) << params.status();
  EXPECT_EQ(params->size, 5);
  EXPECT_EQ(params->beta, 0.75f);
}

TEST(LayerNormTest, SplitsAtItsAxis) {
  const auto params = ReadLayerNorm(NodeCase("LayerNormalization", 17)
                                        .In({2, 3, 4})
                                        .In({3, 4})
                                        .Set("axis", int64_t{-2})
                                        .view());
  ASSERT_TRUE(params.ok()) << params.status();
  EXPECT_EQ(params->outer, 2);
  EXPECT_EQ(params->inner, 12);
  EXPECT_FALSE(params->has_bias);
  EXPECT_THAT(NodeCase("LayerNormalization", 17).In({2, 4}).In({3}).Infer(),
              StatusIs(kInvalid, HasSubstr("does not broadcast")));
  const auto types =
      NodeCase("LayerNormalization", 17).In({2, 4}).In({4}).Infer();
  ASSERT_TRUE(types.ok()) << types.status();
  EXPECT_EQ((*types)[1].dims, (Dims{2, 1}));
}

TEST(LayerNormTest, RefusesParametersOfAnotherDatatype) {
  EXPECT_THAT(NodeCase("LayerNormalization", 17)
                  .In({2, 4}, DType::kFp64)
                  .In({4}, DType::kFp16)
                  .Infer(),
              StatusIs(kInvalid, HasSubstr("input 1 is FP16")));
  EXPECT_THAT(NodeCase("InstanceNormalization", 6)
                  .In({2, 4, 5})
                  .In({4})
                  .In({4}, DType::kFp16)
                  .Infer(),
              StatusIs(kInvalid, HasSubstr("input 2 is FP16")));
}

TEST(NormBatchTest, LayerNormMustNotReachTheBatch) {
  const auto graph = [](int64_t axis) {
    return GraphBuilder(17)
        .Input("x", {-1, 2})
        .Constant("s", FloatTensor({2}, {1, 1}))
        .Node("LayerNormalization", {"x", "s"}, {"y"})
        .Set("axis", axis)
        .Output("y")
        .Build();
  };
  EXPECT_EQ(WhyNotBatched(graph(-1)), "");
  EXPECT_THAT(WhyNotBatched(graph(0)),
              HasSubstr("normalises over the batch axis"));
}

TEST(NormBatchTest, InstanceNormIsPerRow) {
  EXPECT_EQ(
      WhyNotBatched(GraphBuilder(17)
                        .Input("x", {-1, 2, 5})
                        .Constant("s", FloatTensor({2}, {1, 1}))
                        .Constant("b", FloatTensor({2}, {1, 1}))
                        .Node("InstanceNormalization", {"x", "s", "b"}, {"y"})
                        .Output("y")),
      "");
}

}  // namespace
}  // namespace reprise::ops
