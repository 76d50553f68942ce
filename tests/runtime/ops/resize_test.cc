#include "runtime/ops/resize.h"

#include <limits>
#include <string>
#include <vector>

#include "tests/runtime/ops/ops_testing.h"
#include "tests/testing/status_matchers.h"

namespace reprise::ops {
namespace {

using testing::FloatTensor;
using testing::GraphBuilder;
using ::testing::HasSubstr;
using testing::Int64Tensor;
using testing::IsOk;
using testing::NodeCase;
using testing::StatusIs;
using testing::WhyNotBatched;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;
using Ints = std::vector<int64_t>;

HostTensor Floats(const std::vector<float>& values) {
  return FloatTensor({static_cast<int64_t>(values.size())}, values);
}

// Resize of `in` by scales (opset 13), further attributes to come.
NodeCase ByScales(const Dims& in, const std::vector<float>& scales,
                  int version = 13) {
  NodeCase node("Resize", version);
  node.In(in).Absent().Known(Floats(scales));
  return node;
}

NodeCase BySizes(const Dims& in, const Ints& sizes, int version = 13) {
  NodeCase node("Resize", version);
  node.In(in).Absent().Absent().Ints(sizes);
  return node;
}

TEST(ResizeTest, BelowOpset11ItIsAsymmetricAndTakesTheFloor) {
  NodeCase upsample("Upsample", 7);
  upsample.In({1, 2}).Set("scales", std::vector<float>{1, 2.5F});
  EXPECT_EQ(upsample.OutDims(), (Dims{1, 5}));
  const auto params = ReadResize(
      NodeCase("Upsample", 9).In({1, 2}).Known(Floats({1, 2})).view());
  ASSERT_THAT(params, IsOk());
  EXPECT_EQ(params->coordinates, ResizeCoordinates::kAsymmetric);
  EXPECT_EQ(params->nearest, NearestMode::kFloor);
  EXPECT_EQ(
      NodeCase("Resize", 10).In({1, 2}).Known(Floats({1, 0.5F})).OutDims(),
      (Dims{1, 1}));
}

TEST(ResizeTest, FromOpset11OnThePixelsHaveHalves) {
  const auto params = ReadResize(ByScales({4}, {2}, 11).view());
  ASSERT_THAT(params, IsOk());
  EXPECT_EQ(params->mode, ResizeMode::kNearest);
  EXPECT_EQ(params->coordinates, ResizeCoordinates::kHalfPixel);
  EXPECT_EQ(params->nearest, NearestMode::kRoundPreferFloor);
  EXPECT_FLOAT_EQ(static_cast<float>(params->cubic_a), -0.75F);
}

TEST(ResizeTest, SizesAreTheFloorOfTheProduct) {
  EXPECT_EQ(ByScales({5, 5, 10}, {0.5F, 0.79F, 0.7F}).OutDims(),
            (Dims{2, 3, 7}));
  EXPECT_EQ(ByScales({1}, {0.5F}).OutDims(), Dims{0});
}

TEST(ResizeTest, RoiAndScalesOfNoElementsAreAbsent) {
  EXPECT_EQ(NodeCase("Resize", 11)
                .In({1, 2})
                .Known(Floats({}))
                .Known(Floats({}))
                .Ints({1, 7})
                .OutDims(),
            (Dims{1, 7}));
  EXPECT_EQ(NodeCase("Resize", 11).In({2}).In({0}).Known(Floats({3})).OutDims(),
            Dims{6});
  EXPECT_EQ(NodeCase("Resize", 13)
                .In({2})
                .Absent()
                .Known(Floats({3}))
                .Ints({})
                .OutDims(),
            Dims{6});
}

TEST(ResizeTest, OneOfScalesAndSizesIsGiven) {
  EXPECT_THAT(NodeCase("Resize", 13).In({2}).Infer(),
              StatusIs(kInvalid, HasSubstr("neither")));
  EXPECT_THAT(NodeCase("Resize", 13)
                  .In({2})
                  .Absent()
                  .Known(Floats({2}))
                  .Ints({4})
                  .Infer(),
              StatusIs(kInvalid, HasSubstr("both")));
}

TEST(ResizeTest, RefusesWhatItCannotUse) {
  EXPECT_THAT(ByScales({2, 2}, {2}).Infer(),
              StatusIs(kInvalid, HasSubstr("scales [1] are not 2")));
  for (const float scale : {0.0F, -1.0F, std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_THAT(ByScales({2}, {scale}).Infer(),
                StatusIs(kInvalid, HasSubstr("a scale is")));
  }
  EXPECT_THAT(ByScales({int64_t{1} << 40}, {1e30F}).Infer(),
              StatusIs(kInvalid, HasSubstr("too large")));
  EXPECT_THAT(BySizes({2}, {-1}).Infer(),
              StatusIs(kInvalid, HasSubstr("cannot become -1")));
  EXPECT_THAT(BySizes({0}, {3}).Infer(), StatusIs(kInvalid));
  EXPECT_THAT(NodeCase("Resize", 13).In({2}).Absent().In({1}).Infer(),
              StatusIs(kUnimplemented, HasSubstr("'scales' depends on")));
  EXPECT_THAT(ByScales({2}, {2}).Set("mode", std::string("lanczos")).Infer(),
              StatusIs(kInvalid, HasSubstr("'lanczos'")));
}

TEST(ResizeTest, LaterAttributesAreRefusedBefore) {
  const std::string symmetric = "half_pixel_symmetric";
  const std::string attribute = "coordinate_transformation_mode";
  EXPECT_THAT(ByScales({2}, {2}, 18).Set(attribute, symmetric).Infer(),
              StatusIs(kInvalid, HasSubstr("opset 18")));
  EXPECT_THAT(ByScales({2}, {2}, 19).Set(attribute, symmetric).Infer(), IsOk());
  EXPECT_THAT(NodeCase("Resize", 10)
                  .In({2})
                  .Known(Floats({2}))
                  .Set("mode", std::string("cubic"))
                  .Infer(),
              StatusIs(kInvalid, HasSubstr("'cubic'")));
  // Below 18 nobody has heard of axes and antialias.
  EXPECT_FALSE(
      ReadResize(ByScales({2}, {0.5F}, 13).Set("antialias", int64_t{1}).view())
          ->antialias);
}

TEST(ResizeTest, AxesNameWhatIsResized) {
  EXPECT_EQ(
      ByScales({1, 3, 4, 5}, {2, 3}, 18).Set("axes", Ints{-1, 2}).OutDims(),
      (Dims{1, 3, 12, 10}));
  EXPECT_EQ(BySizes({1, 3, 4, 5}, {8, 9}, 18).Set("axes", Ints{2, 3}).OutDims(),
            (Dims{1, 3, 8, 9}));
  EXPECT_THAT(ByScales({4, 5}, {2, 3}, 18).Set("axes", Ints{1, -1}).Infer(),
              StatusIs(kInvalid, HasSubstr("repeat")));
}

TEST(ResizeTest, TheAspectRatioMayBeKept) {
  const auto dims = [](const std::string& policy) {
    return BySizes({1, 1, 2, 4}, {7, 8}, 18)
        .Set("axes", Ints{2, 3})
        .Set("keep_aspect_ratio_policy", policy)
        .OutDims();
  };
  EXPECT_EQ(dims("stretch"), (Dims{1, 1, 7, 8}));
  EXPECT_EQ(dims("not_larger"), (Dims{1, 1, 4, 8}));
  EXPECT_EQ(dims("not_smaller"), (Dims{1, 1, 7, 14}));
}

TEST(ResizeTest, ARegionIsReadWhereItCounts) {
  NodeCase node("Resize", 13);
  node.In({4, 4})
      .Known(Floats({0, 0.25F, 1, 0.75F}))
      .Absent()
      .Ints({4, 2})
      .Set("coordinate_transformation_mode", std::string("tf_crop_and_resize"));
  const auto params = ReadResize(node.view());
  ASSERT_THAT(params, IsOk());
  EXPECT_TRUE(params->axes[0].Keeps());
  EXPECT_EQ(params->axes[1].begin, 0.25);
  EXPECT_EQ(params->axes[1].end, 0.75);
  EXPECT_THAT(BySizes({4}, {2})
                  .Set("coordinate_transformation_mode",
                       std::string("tf_crop_and_resize"))
                  .Infer(),
              StatusIs(kInvalid, HasSubstr("without a roi")));
  // A region that the model computes is no matter elsewhere.
  EXPECT_EQ(NodeCase("Resize", 13).In({4}).In({2}).Known(Floats({2})).OutDims(),
            Dims{8});
}

TEST(ResizeTest, OnlyNearestTakesWhatIsNoNumber) {
  NodeCase nearest("Resize", 13);
  nearest.In({2}, DType::kBool).Absent().Known(Floats({2}));
  EXPECT_THAT(nearest.Infer(), IsOk());
  NodeCase linear("Resize", 13);
  linear.In({2}, DType::kBool)
      .Absent()
      .Known(Floats({2}))
      .Set("mode", std::string("linear"));
  EXPECT_THAT(linear.Infer(), StatusIs(kUnimplemented));
}

TEST(ResizeBatchTest, TheBatchAxisMustKeepItsElements) {
  const auto why = [](const std::vector<float>& scales) {
    return WhyNotBatched(GraphBuilder()
                             .Input("x", {-1, 3, 4})
                             .Constant("s", Floats(scales))
                             .Node("Resize", {"x", "", "s"}, {"y"})
                             .Output("y"));
  };
  EXPECT_EQ(why({1, 1, 2}), "");
  EXPECT_THAT(why({2, 1, 1}), HasSubstr("resizes the batch axis (0)"));
  // As many rows, but each moved by a fraction.
  EXPECT_THAT(why({1.0001F, 1, 1}), HasSubstr("resizes the batch axis (0)"));
}

TEST(ResizeBatchTest, SizesMayBeMadeFromTheInputsShape) {
  // What PyTorch exports for interpolate(scale_factor=2).
  EXPECT_EQ(WhyNotBatched(
                GraphBuilder(11)
                    .Input("x", {-1, 3, 4, 4})
                    .Node("Shape", {"x"}, {"shape"})
                    .Ints("zero", {0})
                    .Ints("two", {2})
                    .Ints("axis", {0})
                    .Node("Slice", {"shape", "zero", "two", "axis"}, {"front"})
                    .Ints("back", {8, 8})
                    .Node("Concat", {"front", "back"}, {"sizes"})
                    .Set("axis", int64_t{0})
                    .Constant("none", Floats({}))
                    .Node("Resize", {"x", "none", "none", "sizes"}, {"y"})
                    .Output("y")),
            "");
}

TEST(ResizeBatchTest, ScalesMayBeAQuotientOfShapes) {
  // What TensorFlow's converter makes of a target size.
  EXPECT_EQ(
      WhyNotBatched(GraphBuilder(11)
                        .Input("x", {-1, 3, 4, 4})
                        .Node("Shape", {"x"}, {"shape"})
                        .Ints("zero", {0})
                        .Ints("two", {2})
                        .Node("Slice", {"shape", "zero", "two"}, {"front"})
                        .Ints("back", {6, 10})
                        .Node("Concat", {"front", "back"}, {"sizes"})
                        .Set("axis", int64_t{0})
                        .Node("Cast", {"shape"}, {"from"})
                        .Set("to", int64_t{1})
                        .Node("Cast", {"sizes"}, {"to"})
                        .Set("to", int64_t{1})
                        .Node("Div", {"to", "from"}, {"scales"})
                        .Constant("none", Floats({}))
                        .Node("Resize", {"x", "none", "scales"}, {"y"})
                        .Output("y", {-1, 3, 6, 10})),
      "");
}

TEST(ResizeBatchTest, SizesByTheNumberOfRowsAreRefused) {
  EXPECT_THAT(WhyNotBatched(GraphBuilder()
                                .Input("x", {-1, 4})
                                .Node("Shape", {"x"}, {"shape"})
                                .Constant("at", Int64Tensor({2}, {0, 0}))
                                .Node("Gather", {"shape", "at"}, {"sizes"})
                                .Node("Resize", {"x", "", "", "sizes"}, {"y"})
                                .Output("y")),
              HasSubstr("resizes by the number of rows"));
}

}  // namespace
}  // namespace reprise::ops
