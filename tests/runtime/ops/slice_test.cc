#include "runtime/ops/slice.h"

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
using testing::NodeCase;
using testing::StatusIs;
using testing::WhyNotBatched;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
using Ints = std::vector<int64_t>;

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

TEST(PadTest, TheValueMayBeComputedOrEmpty) {
  NodeCase computed("Pad", 13);
  computed.In({3}).Ints({1, 1}).In({});
  EXPECT_TRUE(ReadPad(computed.view())->computed);
  NodeCase empty("Pad", 13);
  empty.In({3}).Ints({1, 1}).In({0});
  EXPECT_FALSE(ReadPad(empty.view())->computed);
  EXPECT_EQ(ReadPad(empty.view())->value, 0);
  EXPECT_THAT(NodeCase("Pad", 13).In({3}).Ints({1, 1}).In({2}).Infer(),
              StatusIs(kInvalid, HasSubstr("2 elements")));
  EXPECT_THAT(
      NodeCase("Pad", 13).In({3}).Ints({1, 1}).In({}, DType::kInt64).Infer(),
      StatusIs(kInvalid, HasSubstr("constant_value is INT64")));
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

GraphBuilder Rows(Dims row) {
  row.insert(row.begin(), -1);
  GraphBuilder builder;
  builder.Input("x", row);
  return builder;
}

TEST(SliceBatchTest, SlicesAndSplitsOfRowsAreRefused) {
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

TEST(SliceBatchTest, ACutAtAFixedPositionIsFoundWithManyRows) {
  EXPECT_NE(WhyNotBatched(Rows({4})
                              .Ints("zero", {0})
                              .Ints("far", {1000})
                              .Node("Slice", {"x", "zero", "far"}, {"y"})
                              .Output("y")),
            "");
}

TEST(SliceBatchTest, ACutByTheNumberOfRowsIsRefused) {
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

TEST(SliceBatchTest, PadOfTheBatchIsRefused) {
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

TEST(SliceBatchTest, AValueToPadWithMustBeTheSameForAllRows) {
  EXPECT_EQ(WhyNotBatched(Rows({4})
                              .Ints("p", {0, 1, 0, 0})
                              .Constant("v", FloatTensor({}, {7}))
                              .Node("Pad", {"x", "p", "v"}, {"y"})
                              .Output("y")),
            "");
  EXPECT_THAT(WhyNotBatched(Rows({4})
                                .Ints("p", {0, 1, 0, 0})
                                .Node("ReduceMax", {"x"}, {"v"})
                                .Set("keepdims", int64_t{0})
                                .Node("Pad", {"x", "p", "v"}, {"y"})
                                .Output("y")),
              HasSubstr("reduces over the batch axis"));
}

TEST(SliceBatchTest, PadsOfTheBatchThatCancelOutAreRefused) {
  for (const char* mode : {"constant", "edge", "reflect", "wrap"}) {
    for (const Ints& pads : {Ints{1, 0, -1, 0}, Ints{-1, 0, 1, 0}}) {
      GraphBuilder builder(19);
      builder.Input("x", {-1, 4})
          .Ints("p", pads)
          .Node("Pad", {"x", "p"}, {"y"})
          .Set("mode", std::string(mode))
          .Output("y");
      EXPECT_THAT(WhyNotBatched(builder), HasSubstr("pads the batch axis"))
          << mode;
    }
  }
}

TEST(SliceTest, AStartBeforeTheFirstElementIsTheFirst) {
  const auto slice =
      ReadSlice(NodeCase("Slice", 13)
                    .In({2})
                    .Ints({-6})
                    .Ints({std::numeric_limits<int64_t>::min() + 1})
                    .Ints({0})
                    .Ints({-1})
                    .view());
  ASSERT_TRUE(slice.ok()) << slice.status();
  EXPECT_THAT(slice->starts, ElementsAre(0));
  EXPECT_THAT(slice->extents, ElementsAre(1));
}

}  // namespace
}  // namespace reprise::ops
