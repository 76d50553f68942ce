#include "runtime/ops/conv.h"

#include <string>

#include "tests/runtime/ops/ops_testing.h"
#include "tests/testing/status_matchers.h"

namespace reprise::ops {
namespace {

using ::testing::ElementsAre;
using testing::FloatTensor;
using testing::GraphBuilder;
using ::testing::HasSubstr;
using testing::NodeCase;
using testing::StatusIs;
using testing::WhyNotBatched;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
using Ints = std::vector<int64_t>;

TEST(ConvTest, ReadsItsGeometry) {
  const auto conv = ReadConv(NodeCase("Conv", 11)
                                 .In({2, 4, 9, 9})
                                 .In({6, 2, 3, 3})
                                 .In({6})
                                 .Set("group", int64_t{2})
                                 .Set("strides", Ints{2, 1})
                                 .Set("pads", Ints{1, 0, 1, 0})
                                 .view());
  ASSERT_TRUE(conv.ok()) << conv.status();
  EXPECT_EQ(conv->group, 2);
  EXPECT_EQ(conv->in_channels, 4);
  EXPECT_EQ(conv->out_channels, 6);
  EXPECT_TRUE(conv->has_bias);
  EXPECT_EQ(conv->output, (Dims{2, 6, 5, 7}));
  EXPECT_THAT(conv->window.kernel, ElementsAre(3, 3));
}

TEST(ConvTest, OneAndThreeSpatialAxes) {
  EXPECT_EQ(NodeCase("Conv", 11).In({1, 1, 5}).In({2, 1, 3}).OutDims(),
            (Dims{1, 2, 3}));
  EXPECT_EQ(
      NodeCase("Conv", 11).In({1, 1, 5, 5, 5}).In({2, 1, 3, 3, 3}).OutDims(),
      (Dims{1, 2, 3, 3, 3}));
}

TEST(ConvTest, WeightsOfAnotherRankAreRefused) {
  EXPECT_THAT(NodeCase("Conv", 11).In({1, 3, 8, 8}).In({4, 3, 1, 3, 3}).Infer(),
              StatusIs(kInvalid, HasSubstr("[4,3,1,3,3] do not fit")));
  EXPECT_THAT(NodeCase("Conv", 11).In({1, 3}).In({4, 3}).Infer(),
              StatusIs(kInvalid));
}

TEST(ConvTest, KernelShapeMustBeThatOfTheWeights) {
  for (const Ints& shape : {Ints{3}, Ints{3, 3, 3}, Ints{2, 3}}) {
    EXPECT_THAT(NodeCase("Conv", 11)
                    .In({1, 3, 8, 8})
                    .In({4, 3, 3, 3})
                    .Set("kernel_shape", shape)
                    .Infer(),
                StatusIs(kInvalid, HasSubstr("kernel_shape")));
  }
}

TEST(ConvTest, ChannelsGroupsAndBiasMustFit) {
  EXPECT_THAT(NodeCase("Conv", 11).In({1, 3, 8}).In({4, 2, 3}).Infer(),
              StatusIs(kInvalid, HasSubstr("1 group")));
  for (const int64_t group : {0, -1, 2, 5}) {
    EXPECT_THAT(NodeCase("Conv", 11)
                    .In({1, 3, 8})
                    .In({4, 3, 3})
                    .Set("group", group)
                    .Infer(),
                StatusIs(kInvalid));
  }
  EXPECT_THAT(NodeCase("Conv", 11).In({1, 3, 8}).In({4, 3, 3}).In({3}).Infer(),
              StatusIs(kInvalid, HasSubstr("bias [3] is not [4]")));
}

TEST(ConvBatchTest, TheBatchMustBeOnAxisZero) {
  GraphBuilder good;
  good.Input("x", {-1, 1, 4})
      .Constant("w", FloatTensor({1, 1, 1}, {2}))
      .Node("Conv", {"x", "w"}, {"y"})
      .Output("y");
  EXPECT_EQ(WhyNotBatched(good), "");
  GraphBuilder bad;
  bad.Input("x", {-1, 1, 1})
      .Constant("w", FloatTensor({1, 1, 1}, {2}))
      .Node("Transpose", {"x"}, {"t"})
      .Set("perm", Ints{1, 2, 0})
      .Node("Conv", {"t", "w"}, {"y"})
      .Output("y");
  EXPECT_THAT(WhyNotBatched(bad), HasSubstr("the batch is on axis 2, not 0"));
}

TEST(ConvBatchTest, WeightsThatVaryByRowAreRefused) {
  EXPECT_NE(WhyNotBatched(GraphBuilder()
                              .Input("x", {-1, 1, 4})
                              .Input("w", {-1, 1, 1})
                              .Node("Conv", {"x", "w"}, {"y"})
                              .Output("y")),
            "");
}

}  // namespace
}  // namespace reprise::ops
