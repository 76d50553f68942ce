#include "runtime/ops/layout.h"

#include <limits>
#include <string>

#include "tests/runtime/ops/ops_testing.h"
#include "tests/testing/status_matchers.h"

namespace reprise::ops {
namespace {

using ::testing::ElementsAre;
using testing::FloatTensor;
using testing::GraphBuilder;
using ::testing::HasSubstr;
using testing::Int64Tensor;
using testing::IsOkAndHolds;
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

TEST(SplitTest, SizesComeFromAttributeInputOrTheOutputs) {
  EXPECT_THAT(ReadSplit(NodeCase("Split", 11)
                            .In({6})
                            .Set("split", Ints{2, 4})
                            .Outputs(2)
                            .view())
                  ->sizes,
              ElementsAre(2, 4));
  EXPECT_THAT(
      ReadSplit(NodeCase("Split", 13).In({6}).Ints({1, 5}).Outputs(2).view())
          ->sizes,
      ElementsAre(1, 5));
  EXPECT_THAT(ReadSplit(NodeCase("Split", 13).In({6}).Outputs(3).view())->sizes,
              ElementsAre(2, 2, 2));
  EXPECT_THAT(ReadSplit(NodeCase("Split", 18)
                            .In({7})
                            .Set("num_outputs", int64_t{3})
                            .Outputs(3)
                            .view())
                  ->sizes,
              ElementsAre(3, 3, 1));
}

TEST(SplitTest, RefusesSizesThatDoNotFit) {
  EXPECT_THAT(NodeCase("Split", 13).In({7}).Outputs(3).Infer(),
              StatusIs(kInvalid, HasSubstr("does not split into 3")));
  EXPECT_THAT(NodeCase("Split", 13).In({6}).Ints({1, 4}).Outputs(2).Infer(),
              StatusIs(kInvalid));
  EXPECT_THAT(NodeCase("Split", 13).In({6}).Ints({-1, 7}).Outputs(2).Infer(),
              StatusIs(kInvalid));
  EXPECT_THAT(NodeCase("Split", 13).In({6}).Ints({6}).Outputs(2).Infer(),
              StatusIs(kInvalid));
}

TEST(SliceTest, BelowOpset10TheBoundsAreAttributes) {
  EXPECT_EQ(NodeCase("Slice", 9)
                .In({4, 6})
                .Set("starts", Ints{1})
                .Set("ends", Ints{-1})
                .Set("axes", Ints{1})
                .OutDims(),
            (Dims{4, 4}));
}

TEST(SliceTest, StepsAndNegativeBounds) {
  const auto slice = ReadSlice(NodeCase("Slice", 13)
                                   .In({10})
                                   .Ints({-1})
                                   .Ints({std::numeric_limits<int64_t>::min()})
                                   .Ints({0})
                                   .Ints({-3})
                                   .view());
  ASSERT_TRUE(slice.ok()) << slice.status();
  EXPECT_THAT(slice->starts, ElementsAre(9));
  EXPECT_THAT(slice->steps, ElementsAre(-3));
  EXPECT_THAT(slice->extents, ElementsAre(4));  // 9 6 3 0
}

TEST(SliceTest, AnEmptySliceIsNoError) {
  EXPECT_EQ(NodeCase("Slice", 13)
                .In({10})
                .Ints({0})
                .Ints({5})
                .Ints({0})
                .Ints({-1})
                .OutDims(),
            (Dims{0}));
  EXPECT_EQ(NodeCase("Slice", 13).In({0}).Ints({0}).Ints({9}).OutDims(),
            (Dims{0}));
}

TEST(SliceTest, ExtremeStepsDoNotOverflow) {
  const int64_t far = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(NodeCase("Slice", 13)
                .In({10})
                .Ints({0})
                .Ints({far})
                .Ints({0})
                .Ints({far})
                .OutDims(),
            (Dims{1}));
  EXPECT_EQ(NodeCase("Slice", 13)
                .In({10})
                .Ints({far})
                .Ints({-far - 1})
                .Ints({0})
                .Ints({-far - 1})
                .OutDims(),
            (Dims{1}));
}

TEST(SliceTest, RefusesContradictions) {
  EXPECT_THAT(NodeCase("Slice", 13).In({10}).Ints({0}).Ints({5, 6}).Infer(),
              StatusIs(kInvalid, HasSubstr("1, 2, 1 and 1")));
  EXPECT_THAT(NodeCase("Slice", 13)
                  .In({10})
                  .Ints({0})
                  .Ints({5})
                  .Ints({0})
                  .Ints({0})
                  .Infer(),
              StatusIs(kInvalid, HasSubstr("step is 0")));
  EXPECT_THAT(
      NodeCase("Slice", 13).In({10}).Ints({0}).Ints({5}).Ints({1}).Infer(),
      StatusIs(kInvalid, HasSubstr("axis 1")));
}

TEST(GatherTest, IndicesTakeThePlaceOfTheAxis) {
  EXPECT_EQ(NodeCase("Gather", 13)
                .In({5, 6})
                .In({2, 3}, DType::kInt64)
                .Set("axis", int64_t{1})
                .OutDims(),
            (Dims{5, 2, 3}));
  EXPECT_EQ(NodeCase("Gather", 13).In({5, 6}).In({}, DType::kInt32).OutDims(),
            (Dims{6}));
  EXPECT_THAT(NodeCase("Gather", 13).In({5}).In({2}).Infer(),
              StatusIs(kInvalid, HasSubstr("indices are FP32")));
}

TEST(PadTest, AttributesBelow11InputsAfterAndAxesFrom18) {
  EXPECT_EQ(
      NodeCase("Pad", 2).In({1, 3}).Set("pads", Ints{0, 1, 0, 2}).OutDims(),
      (Dims{1, 6}));
  EXPECT_EQ(NodeCase("Pad", 13).In({1, 3}).Ints({0, -1, 0, 0}).OutDims(),
            (Dims{1, 2}));
  const auto pad = ReadPad(NodeCase("Pad", 18)
                               .In({1, 3})
                               .Ints({1, 2})
                               .Known(FloatTensor({}, {7}))
                               .Ints({-1})
                               .view());
  ASSERT_TRUE(pad.ok()) << pad.status();
  EXPECT_THAT(pad->begins, ElementsAre(0, 1));
  EXPECT_THAT(pad->ends, ElementsAre(0, 2));
  EXPECT_EQ(pad->value, 7);
}

TEST(PadTest, RefusesWhatItCannotFill) {
  EXPECT_THAT(NodeCase("Pad", 13)
                  .In({3})
                  .Ints({3, 0})
                  .Set("mode", std::string("reflect"))
                  .Infer(),
              StatusIs(kInvalid, HasSubstr("padded by 3")));
  EXPECT_THAT(NodeCase("Pad", 13).In({3}).Ints({1}).Infer(),
              StatusIs(kInvalid, HasSubstr("not two for 1")));
  EXPECT_THAT(NodeCase("Pad", 13)
                  .In({3})
                  .Ints({1, 1})
                  .Set("mode", std::string("wrap"))
                  .Infer(),
              StatusIs(kInvalid, HasSubstr("'wrap'")));
  EXPECT_THAT(NodeCase("Pad", 13).In({3}).Ints({-2, -2}).Infer(),
              StatusIs(kInvalid));
}

TEST(FillTest, TakesDtypeAndZeroByDefault) {
  const auto types = NodeCase("ConstantOfShape", 9).Ints({2, 0}).Infer();
  ASSERT_TRUE(types.ok()) << types.status();
  EXPECT_EQ((*types)[0].dtype, DType::kFp32);
  EXPECT_EQ((*types)[0].dims, (Dims{2, 0}));
  EXPECT_THAT(NodeCase("ConstantOfShape", 9).Ints({2, -1}).Infer(),
              StatusIs(kInvalid));
}

TEST(RangeTest, CountsItsElements) {
  EXPECT_EQ(NodeCase("Range", 11)
                .Known(Int64Tensor({}, {10}))
                .Known(Int64Tensor({}, {4}))
                .Known(Int64Tensor({}, {-2}))
                .OutDims(),
            (Dims{3}));
  EXPECT_EQ(NodeCase("Range", 11)
                .Known(FloatTensor({}, {0}))
                .Known(FloatTensor({}, {-1}))
                .Known(FloatTensor({}, {1}))
                .OutDims(),
            (Dims{0}));
  EXPECT_THAT(NodeCase("Range", 11)
                  .Known(Int64Tensor({}, {0}))
                  .Known(Int64Tensor({}, {4}))
                  .Known(Int64Tensor({}, {0}))
                  .Infer(),
              StatusIs(kInvalid, HasSubstr("no end")));
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

// ---- Rows.

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

TEST(LayoutBatchTest, SlicesAndSplitsOfRowsAreRefused) {
  EXPECT_THAT(WhyNotBatched(Rows({4})
                                .Ints("zero", {0})
                                .Ints("one", {1})
                                .Node("Slice", {"x", "zero", "one"}, {"y"})
                                .Output("y")),
              HasSubstr("cuts rows out of the batch axis"));
  EXPECT_EQ(
      WhyNotBatched(Rows({4})
                        .Ints("zero", {0})
                        .Ints("one", {1})
                        .Ints("axis", {1})
                        .Node("Slice", {"x", "zero", "one", "axis"}, {"y"})
                        .Output("y")),
      "");
  EXPECT_NE(
      WhyNotBatched(Rows({4}).Node("Split", {"x"}, {"y", "z"}).Output("y")),
      "");
}

TEST(LayoutBatchTest, ACutAtAFixedPositionIsFoundWithManyRows) {
  EXPECT_NE(WhyNotBatched(Rows({4})
                              .Ints("zero", {0})
                              .Ints("far", {1000})
                              .Node("Slice", {"x", "zero", "far"}, {"y"})
                              .Output("y")),
            "");
}

TEST(LayoutBatchTest, ACutByTheNumberOfRowsIsRefused) {
  EXPECT_THAT(
      WhyNotBatched(Rows({4})
                        .Node("Shape", {"x"}, {"s"})
                        .Ints("zero", {0})
                        .Ints("one", {1})
                        .Node("Slice", {"s", "zero", "one"}, {"n"})
                        .Node("Neg", {"n"}, {"start"})
                        .Ints("end", {std::numeric_limits<int64_t>::max()})
                        .Node("Slice", {"x", "start", "end", "one"}, {"y"})
                        .Output("y")),
      HasSubstr("cuts by the number of rows"));
}

TEST(LayoutBatchTest, GatherMayIndexAnythingButTheBatch) {
  EXPECT_THAT(WhyNotBatched(Rows({4})
                                .Ints("i", {0, 0})
                                .Node("Gather", {"x", "i"}, {"y"})
                                .Output("y")),
              HasSubstr("indexes the batch axis (0)"));
  EXPECT_EQ(WhyNotBatched(Rows({4})
                              .Ints("i", {0, 0})
                              .Node("Gather", {"x", "i"}, {"y"})
                              .Set("axis", int64_t{1})
                              .Output("y")),
            "");
  // An embedding: the table is the same for all, the rows are in the indices.
  EXPECT_EQ(WhyNotBatched(GraphBuilder()
                              .Input("ids", {-1, 3}, {}, DType::kInt64)
                              .Constant("table", FloatTensor({2, 1}, {5, 6}))
                              .Node("Gather", {"table", "ids"}, {"y"})
                              .Output("y")),
            "");
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

TEST(LayoutBatchTest, CountingTheRowsIsRefused) {
  EXPECT_NE(WhyNotBatched(Rows({1})
                              .Node("Shape", {"x"}, {"s"})
                              .Constant("at", Int64Tensor({}, {0}))
                              .Node("Gather", {"s", "at"}, {"n"})
                              .Constant("from", Int64Tensor({}, {0}))
                              .Constant("by", Int64Tensor({}, {1}))
                              .Node("Range", {"from", "n", "by"}, {"r"})
                              .Node("Cast", {"r"}, {"f"})
                              .Set("to", int64_t{1})
                              .Ints("axes", {1})
                              .Node("Unsqueeze", {"f", "axes"}, {"u"})
                              .Node("Add", {"x", "u"}, {"y"})
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

TEST(LayoutBatchTest, PadOfTheBatchIsRefused) {
  EXPECT_NE(WhyNotBatched(Rows({4})
                              .Ints("p", {1, 0, 0, 0})
                              .Node("Pad", {"x", "p"}, {"y"})
                              .Output("y")),
            "");
  EXPECT_EQ(WhyNotBatched(Rows({4})
                              .Ints("p", {0, 1, 0, 0})
                              .Node("Pad", {"x", "p"}, {"y"})
                              .Output("y")),
            "");
}

}  // namespace
}  // namespace reprise::ops
