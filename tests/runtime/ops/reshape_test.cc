#include "runtime/ops/reshape.h"

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

TEST(ResolveReshapeTest, ZeroCopiesAndMinusOneTakesTheRest) {
  EXPECT_EQ(ResolveReshape({2, 3, 4}, {0, -1}, false).value(), (Dims{2, 12}));
  EXPECT_EQ(ResolveReshape({2, 3, 4}, {-1, 2}, false).value(), (Dims{12, 2}));
  EXPECT_EQ(ResolveReshape({}, {1}, false).value(), (Dims{1}));
  EXPECT_EQ(ResolveReshape({1}, {}, false).value(), (Dims{}));
}

TEST(ResolveReshapeTest, AllowZeroMeansAnEmptyAxis) {
  EXPECT_EQ(ResolveReshape({0, 3}, {3, 0}, true).value(), (Dims{3, 0}));
  EXPECT_THAT(ResolveReshape({2, 3}, {2, 0}, true), StatusIs(kInvalid));
}

TEST(ResolveReshapeTest, RefusesWhatDoesNotFit) {
  EXPECT_THAT(ResolveReshape({2, 3}, {4, -1}, false),
              StatusIs(kInvalid, HasSubstr("[2,3] cannot become [4,-1]")));
  EXPECT_THAT(ResolveReshape({2, 3}, {5}, false), StatusIs(kInvalid));
  EXPECT_THAT(ResolveReshape({2, 3}, {-1, -1}, false),
              StatusIs(kInvalid, HasSubstr("two -1")));
  EXPECT_THAT(ResolveReshape({2}, {2, 0}, false),
              StatusIs(kInvalid, HasSubstr("copies axis 1")));
  EXPECT_THAT(ResolveReshape({2}, {-2}, false),
              StatusIs(kInvalid, HasSubstr("negative")));
}

TEST(ReshapeTest, AComputedShapeIsRefused) {
  EXPECT_THAT(NodeCase("Reshape", 13).In({2}).In({1}, DType::kInt64).Infer(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("'shape' depends on the data")));
}

TEST(FlattenTest, SplitsTheDimsInTwo) {
  EXPECT_EQ(NodeCase("Flatten", 11).In({2, 3, 4}).OutDims(), (Dims{2, 12}));
  EXPECT_EQ(
      NodeCase("Flatten", 11).In({2, 3}).Set("axis", int64_t{0}).OutDims(),
      (Dims{1, 6}));
  EXPECT_EQ(
      NodeCase("Flatten", 11).In({2, 3}).Set("axis", int64_t{-1}).OutDims(),
      (Dims{2, 3}));
  EXPECT_THAT(
      NodeCase("Flatten", 11).In({2, 3}).Set("axis", int64_t{3}).Infer(),
      StatusIs(kInvalid));
}

TEST(SqueezeTest, AxesAreAnAttributeBelow13AndAnInputFromThen) {
  EXPECT_EQ(NodeCase("Squeeze", 11)
                .In({1, 2, 1})
                .Set("axes", std::vector<int64_t>{-1})
                .OutDims(),
            (Dims{1, 2}));
  EXPECT_EQ(NodeCase("Squeeze", 13).In({1, 2, 1}).Ints({0}).OutDims(),
            (Dims{2, 1}));
  EXPECT_EQ(NodeCase("Squeeze", 13).In({1, 2, 1}).OutDims(), (Dims{2}));
  EXPECT_THAT(NodeCase("Squeeze", 13).In({1, 2}).Ints({1}).Infer(),
              StatusIs(kInvalid, HasSubstr("is not 1")));
}

TEST(UnsqueezeTest, AxesCountInTheOutput) {
  EXPECT_EQ(NodeCase("Unsqueeze", 11)
                .In({2, 3})
                .Set("axes", std::vector<int64_t>{0, 2})
                .OutDims(),
            (Dims{1, 2, 1, 3}));
  EXPECT_EQ(NodeCase("Unsqueeze", 13).In({2, 3}).Ints({-1}).OutDims(),
            (Dims{2, 3, 1}));
  EXPECT_THAT(NodeCase("Unsqueeze", 13).In({2}).Ints({0, 0}).Infer(),
              StatusIs(kInvalid, HasSubstr("repeat")));
}

TEST(ShapeTest, StartAndEndComeWithOpset15) {
  EXPECT_EQ(NodeCase("Shape", 13).In({2, 3, 4}).OutDims(), (Dims{3}));
  EXPECT_EQ(NodeCase("Shape", 15)
                .In({2, 3, 4})
                .Set("start", int64_t{-2})
                .Set("end", int64_t{9})
                .OutDims(),
            (Dims{2}));
  EXPECT_EQ(NodeCase("Shape", 13).In({2, 3}).Set("start", int64_t{1}).OutDims(),
            (Dims{2}));
}

TEST(DropoutTest, ServesInferenceOnly) {
  HostTensor on = HostTensor::Create(DType::kBool, {}).value();
  on.values<uint8_t>()[0] = 1;
  EXPECT_EQ(NodeCase("Dropout", 10).In({2}).OutDims(), (Dims{2}));
  EXPECT_THAT(
      NodeCase("Dropout", 13).In({2}).Absent().Known(std::move(on)).Infer(),
      StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("training_mode")));
}

TEST(ReshapeBatchTest, ALiteralOneInFrontIsNotBatchable) {
  // The idiom of exporters that saw a single row.
  EXPECT_NE(WhyNotBatched(GraphBuilder()
                              .Input("x", {-1, 4})
                              .Ints("shape", {1, 2, -1})
                              .Node("Reshape", {"x", "shape"}, {"y"})
                              .Output("y")),
            "");
}

TEST(ReshapeBatchTest, RowsMayBeMergedWithAnInnerAxisAndTakenApart) {
  EXPECT_EQ(WhyNotBatched(GraphBuilder()
                              .Input("x", {-1, 4, 6})
                              .Ints("flat", {-1, 6})
                              .Ints("back", {-1, 4, 6})
                              .Node("Reshape", {"x", "flat"}, {"f"})
                              .Node("Relu", {"f"}, {"g"})
                              .Node("Reshape", {"g", "back"}, {"y"})
                              .Output("y")),
            "");
}

TEST(ReshapeBatchTest, AnotherOrderOfElementsIsSeen) {
  EXPECT_THAT(WhyNotBatched(GraphBuilder()
                                .Input("x", {-1, 4})
                                .Ints("shape", {4, -1})
                                .Node("Reshape", {"x", "shape"}, {"t"})
                                .Node("Transpose", {"t"}, {"y"})
                                .Output("y")),
              HasSubstr("moves elements across rows"));
}

TEST(ReshapeBatchTest, SqueezeWithoutAxesWouldDropASingleRow) {
  EXPECT_THAT(WhyNotBatched(GraphBuilder()
                                .Input("x", {-1, 4, 1})
                                .Node("Squeeze", {"x"}, {"y"})
                                .Output("y")),
              HasSubstr("drops the batch axis"));
  EXPECT_EQ(WhyNotBatched(GraphBuilder()
                              .Input("x", {-1, 4, 1})
                              .Ints("axes", {2})
                              .Node("Squeeze", {"x", "axes"}, {"y"})
                              .Output("y")),
            "");
}

TEST(ReshapeBatchTest, AShapeComputedFromTheInputKeepsTheBatch) {
  EXPECT_EQ(WhyNotBatched(GraphBuilder()
                              .Input("x", {-1, 3, 4})
                              .Node("Shape", {"x"}, {"s"})
                              .Ints("zero", {0})
                              .Ints("one", {1})
                              .Node("Slice", {"s", "zero", "one"}, {"n"})
                              .Ints("rest", {-1})
                              .Node("Concat", {"n", "rest"}, {"shape"})
                              .Set("axis", int64_t{0})
                              .Node("Reshape", {"x", "shape"}, {"y"})
                              .Output("y")),
            "");
}

}  // namespace
}  // namespace reprise::ops
