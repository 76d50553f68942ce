#include "runtime/ops/layout.h"

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
using Ints = std::vector<int64_t>;

TEST(TransposeTest, ReversesByDefaultAndChecksThePermutation) {
  EXPECT_EQ(NodeCase("Transpose", 13).In({2, 3, 4}).OutDims(), (Dims{4, 3, 2}));
  EXPECT_EQ(
      NodeCase("Transpose", 13).In({2, 3}).Set("perm", Ints{1, 0}).OutDims(),
      (Dims{3, 2}));
  EXPECT_EQ(NodeCase("Transpose", 13).In({}).OutDims(), Dims{});
  for (const Ints& bad : {Ints{0, 0}, Ints{0}, Ints{0, 2}, Ints{-1, 0}}) {
    EXPECT_THAT(NodeCase("Transpose", 13).In({2, 3}).Set("perm", bad).Infer(),
                StatusIs(kInvalid, HasSubstr("no permutation")));
  }
}

TEST(ExpandTest, BroadcastsBothWays) {
  EXPECT_EQ(NodeCase("Expand", 13).In({3, 1}).Ints({2, 1, 6}).OutDims(),
            (Dims{2, 3, 6}));
  EXPECT_EQ(NodeCase("Expand", 13).In({3, 4}).Ints({1}).OutDims(),
            (Dims{3, 4}));
  EXPECT_THAT(NodeCase("Expand", 13).In({3}).Ints({-1}).Infer(),
              StatusIs(kInvalid));
}

TEST(TileTest, RepeatsEachAxis) {
  EXPECT_EQ(NodeCase("Tile", 13).In({2, 3}).Ints({1, 4}).OutDims(),
            (Dims{2, 12}));
  EXPECT_THAT(NodeCase("Tile", 13).In({2, 3}).Ints({4}).Infer(),
              StatusIs(kInvalid, HasSubstr("do not fit")));
  EXPECT_THAT(NodeCase("Tile", 13).In({2}).Ints({int64_t{1} << 62}).Infer(),
              StatusIs(kInvalid, HasSubstr("too large")));
}

TEST(ConcatTest, AddsUpOneAxis) {
  EXPECT_EQ(NodeCase("Concat", 13)
                .In({2, 3})
                .In({2, 0})
                .In({2, 5})
                .Set("axis", int64_t{-1})
                .OutDims(),
            (Dims{2, 8}));
  EXPECT_THAT(
      NodeCase("Concat", 13)
          .In({2, 3})
          .In({3, 3})
          .Set("axis", int64_t{1})
          .Infer(),
      StatusIs(kInvalid, HasSubstr("input 1, FP32 [3,3], does not fit")));
  EXPECT_THAT(NodeCase("Concat", 13).In({2}).In({2}).Infer(),
              StatusIs(kInvalid, HasSubstr("'axis'")));
}

TEST(DepthSpaceTest, MovesBlocksBetweenAxes) {
  EXPECT_EQ(NodeCase("DepthToSpace", 13)
                .In({1, 8, 2, 3})
                .Set("blocksize", int64_t{2})
                .OutDims(),
            (Dims{1, 2, 4, 6}));
  EXPECT_EQ(NodeCase("SpaceToDepth", 13)
                .In({1, 2, 4, 6})
                .Set("blocksize", int64_t{2})
                .OutDims(),
            (Dims{1, 8, 2, 3}));
  EXPECT_THAT(NodeCase("DepthToSpace", 13)
                  .In({1, 6, 2, 3})
                  .Set("blocksize", int64_t{2})
                  .Infer(),
              StatusIs(kInvalid, HasSubstr("do not divide by 4")));
}

GraphBuilder Rows(Dims row) {
  row.insert(row.begin(), -1);
  GraphBuilder builder;
  builder.Input("x", row);
  return builder;
}

TEST(LayoutBatchTest, TransposeCarriesTheBatchAlong) {
  EXPECT_EQ(WhyNotBatched(Rows({3, 4})
                              .Node("Transpose", {"x"}, {"t"})
                              .Set("perm", Ints{1, 0, 2})
                              .Node("Relu", {"t"}, {"r"})
                              .Node("Transpose", {"r"}, {"y"})
                              .Set("perm", Ints{1, 0, 2})
                              .Output("y")),
            "");
  EXPECT_THAT(
      WhyNotBatched(Rows({3}).Node("Transpose", {"x"}, {"y"}).Output("y")),
      HasSubstr("does not carry the batch on axis 0"));
}

TEST(LayoutBatchTest, ConcatAlongTheBatchIsRefused) {
  EXPECT_THAT(WhyNotBatched(Rows({4})
                                .Node("Concat", {"x", "x"}, {"y"})
                                .Set("axis", int64_t{0})
                                .Output("y")),
              HasSubstr("merges along the batch axis"));
  EXPECT_EQ(WhyNotBatched(Rows({4})
                              .Node("Concat", {"x", "x"}, {"y"})
                              .Set("axis", int64_t{1})
                              .Output("y")),
            "");
}

TEST(LayoutBatchTest, AConstantMayBeSpreadOverTheRows) {
  // The class token of a vision transformer.
  EXPECT_EQ(WhyNotBatched(Rows({4, 2})
                              .Constant("token", FloatTensor({1, 1, 2}, {1, 2}))
                              .Node("Shape", {"x"}, {"s"})
                              .Ints("zero", {0})
                              .Ints("one", {1})
                              .Node("Slice", {"s", "zero", "one"}, {"n"})
                              .Ints("rest", {-1, -1})
                              .Ints("ones", {1, 2})
                              .Node("Concat", {"n", "ones"}, {"shape"})
                              .Set("axis", int64_t{0})
                              .Node("Expand", {"token", "shape"}, {"t"})
                              .Node("Concat", {"t", "x"}, {"y"})
                              .Set("axis", int64_t{1})
                              .Output("y")),
            "");
}

TEST(LayoutBatchTest, TileOfTheBatchIsRefused) {
  EXPECT_THAT(WhyNotBatched(Rows({4})
                                .Ints("r", {2, 1})
                                .Node("Tile", {"x", "r"}, {"y"})
                                .Output("y")),
              HasSubstr("repeats the batch axis"));
}

}  // namespace
}  // namespace reprise::ops
