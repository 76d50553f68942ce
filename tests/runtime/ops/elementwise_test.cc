#include "runtime/ops/elementwise.h"

#include <limits>
#include <string>

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

TEST(BroadcastTest, FollowsNumpy) {
  EXPECT_EQ(*BroadcastDims({2, 3}, {3}), (Dims{2, 3}));
  EXPECT_EQ(*BroadcastDims({2, 1}, {1, 5}), (Dims{2, 5}));
  EXPECT_EQ(*BroadcastDims({}, {4}), (Dims{4}));
  EXPECT_EQ(*BroadcastDims({0, 3}, {1, 3}), (Dims{0, 3}));
  EXPECT_THAT(BroadcastDims({2, 3}, {2, 4}),
              StatusIs(kInvalid, HasSubstr("[2,3] and [2,4]")));
}

TEST(ElementwiseTest, BinaryOperatorsBroadcastAndKeepTheDtype) {
  EXPECT_EQ(NodeCase("Add", 13).In({2, 3}).In({3}).OutDims(), (Dims{2, 3}));
  EXPECT_EQ((*NodeCase("Greater", 13).In({2}).In({1}).Infer())[0].dtype,
            DType::kBool);
  EXPECT_THAT(NodeCase("Add", 13).In({2}).In({2}, DType::kInt64).Infer(),
              StatusIs(kInvalid, HasSubstr("input 1 is INT64")));
}

TEST(ElementwiseTest, AScalarBroadcasts) {
  EXPECT_EQ(NodeCase("Mul", 13).In({}).In({2, 2}).OutDims(), (Dims{2, 2}));
  EXPECT_EQ(NodeCase("Mul", 13).In({}).In({}).OutDims(), Dims{});
}

TEST(ElementwiseTest, DtypesThatAnOperatorDoesNotTakeAreRefused) {
  EXPECT_THAT(NodeCase("Exp", 13).In({2}, DType::kInt32).Infer(),
              StatusIs(kUnimplemented, HasSubstr("INT32")));
  EXPECT_THAT(NodeCase("And", 7).In({2}).In({2}).Infer(),
              StatusIs(kUnimplemented));
  EXPECT_THAT(NodeCase("Not", 1).In({2}).Infer(), StatusIs(kUnimplemented));
}

TEST(ElementwiseTest, PReluDoesNotGrowItsInput) {
  EXPECT_EQ(NodeCase("PRelu", 9).In({2, 3}).In({3}).OutDims(), (Dims{2, 3}));
  EXPECT_THAT(NodeCase("PRelu", 9).In({3}).In({2, 3}).Infer(),
              StatusIs(kInvalid, HasSubstr("slope")));
}

TEST(ElementwiseTest, ModNeedsFmodForFloats) {
  EXPECT_THAT(NodeCase("Mod", 13).In({2}).In({2}).Infer(),
              StatusIs(kInvalid, HasSubstr("fmod")));
  EXPECT_THAT(
      NodeCase("Mod", 13).In({2}).In({2}).Set("fmod", int64_t{1}).Infer(),
      testing::IsOk());
}

TEST(ElementwiseTest, WhereTakesTheDtypeOfItsBranches) {
  const auto types = NodeCase("Where", 9)
                         .In({2, 1}, DType::kBool)
                         .In({3}, DType::kInt64)
                         .In({}, DType::kInt64)
                         .Infer();
  ASSERT_TRUE(types.ok()) << types.status();
  EXPECT_EQ((*types)[0].dtype, DType::kInt64);
  EXPECT_EQ((*types)[0].dims, (Dims{2, 3}));
}

TEST(ElementwiseTest, DefaultsOfActivations) {
  EXPECT_EQ(ReadUnary(NodeCase("LeakyRelu", 6).In({1}).view())->alpha, 0.01f);
  const auto hard = ReadUnary(NodeCase("HardSigmoid", 6).In({1}).view());
  EXPECT_EQ(hard->alpha, 0.2f);
  EXPECT_EQ(hard->beta, 0.5f);
  EXPECT_EQ(
      ReadUnary(NodeCase("Elu", 6).In({1}).Set("alpha", 3.0f).view())->alpha,
      3.0f);
  EXPECT_EQ(
      ReadUnary(NodeCase("Selu", 6).In({1}).Set("gamma", 2.0f).view())->beta,
      2.0f);
}

TEST(ClipTest, BelowOpset11TheBoundsAreAttributes) {
  const auto clip = ReadClip(
      NodeCase("Clip", 6).In({2}).Set("min", -1.0f).Set("max", 6.0f).view());
  ASSERT_TRUE(clip.ok()) << clip.status();
  EXPECT_EQ(clip->low, -1);
  EXPECT_EQ(clip->high, 6);
}

TEST(ClipTest, FromOpset11TheBoundsAreInputsAndEitherMayBeAbsent) {
  const auto clip = ReadClip(
      NodeCase("Clip", 11).In({2}).Absent().Known(FloatTensor({}, {6})).view());
  ASSERT_TRUE(clip.ok()) << clip.status();
  EXPECT_FALSE(clip->has_low);
  EXPECT_EQ(clip->low, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(clip->high, 6);
}

TEST(ClipTest, Int64BoundsAreExact) {
  const int64_t bound = (int64_t{1} << 60) + 1;
  const auto clip = ReadClip(NodeCase("Clip", 12)
                                 .In({2}, DType::kInt64)
                                 .Known(Int64Tensor({}, {bound}))
                                 .view());
  ASSERT_TRUE(clip.ok()) << clip.status();
  EXPECT_EQ(clip->low_int, bound);
}

TEST(ClipTest, AComputedBoundHasAShapeButNoNumber) {
  NodeCase node("Clip", 13);
  node.In({2}).In({});
  EXPECT_EQ(node.OutDims(), (Dims{2}));
  EXPECT_TRUE(ReadClipBounds(node.view())->low_computed);
  EXPECT_THAT(ReadClip(node.view()),
              StatusIs(kUnimplemented, HasSubstr("'min'")));
  EXPECT_THAT(NodeCase("Clip", 13).In({2}).In({2}).Infer(),
              StatusIs(kInvalid, HasSubstr("not one element")));
}

TEST(CastTest, TargetsAreOnnxNumbers) {
  EXPECT_EQ(
      (*NodeCase("Cast", 13).In({2}).Set("to", int64_t{7}).Infer())[0].dtype,
      DType::kInt64);
  EXPECT_THAT(NodeCase("Cast", 19).In({2}).Set("to", int64_t{17}).Infer(),
              StatusIs(kUnimplemented, HasSubstr("FLOAT8E4M3FN")));
  EXPECT_THAT(NodeCase("Cast", 13).In({2}).Set("to", int64_t{8}).Infer(),
              StatusIs(kUnimplemented, HasSubstr("BYTES")));
  EXPECT_THAT(NodeCase("Cast", 13).In({2}).Infer(),
              StatusIs(kInvalid, HasSubstr("'to'")));
  EXPECT_EQ(
      (*NodeCase("CastLike", 15).In({2}).In({}, DType::kBool).Infer())[0].dtype,
      DType::kBool);
}

TEST(GeluTest, KnowsItsTwoForms) {
  EXPECT_FALSE(*ReadGeluTanh(NodeCase("Gelu", 20).In({1}).view()));
  EXPECT_TRUE(*ReadGeluTanh(NodeCase("Gelu", 20)
                                .In({1})
                                .Set("approximate", std::string("tanh"))
                                .view()));
  EXPECT_THAT(NodeCase("Gelu", 20)
                  .In({1})
                  .Set("approximate", std::string("fast"))
                  .Infer(),
              StatusIs(kInvalid, HasSubstr("fast")));
}

TEST(ElementwiseBatchTest, RowsStayApartUnlessTheyMeetOnAnotherAxis) {
  EXPECT_EQ(WhyNotBatched(GraphBuilder()
                              .Input("x", {-1, 4})
                              .Constant("b", FloatTensor({4}, {1, 2, 3, 4}))
                              .Node("Add", {"x", "b"}, {"y"})
                              .Output("y")),
            "");
  EXPECT_THAT(WhyNotBatched(GraphBuilder()
                                .Input("x", {-1, 1})
                                .Input("z", {-1})
                                .Node("Add", {"x", "z"}, {"y"})
                                .Output("y")),
              HasSubstr("merges a batch on axis"));
}

TEST(ElementwiseBatchTest, TheNumberOfRowsIsNoData) {
  EXPECT_THAT(WhyNotBatched(GraphBuilder()
                                .Input("x", {-1, 4})
                                .Node("Shape", {"x"}, {"s"})
                                .Ints("zero", {0})
                                .Node("Gather", {"s", "zero"}, {"n"})
                                .Node("Cast", {"n"}, {"f"})
                                .Set("to", int64_t{1})
                                .Node("Div", {"x", "f"}, {"y"})
                                .Output("y")),
              HasSubstr("uses the number of rows as data"));
}

TEST(BitShiftTest, TheDirectionMustBeOneOfTwo) {
  const auto shift = [](const char* direction) {
    NodeCase node("BitShift", 11);
    node.In({2}, DType::kUint8).In({2}, DType::kUint8);
    if (direction != nullptr) node.Set("direction", std::string(direction));
    return node.Infer().status();
  };
  EXPECT_THAT(shift("LEFT"), IsOk());
  EXPECT_THAT(shift("RIGHT"), IsOk());
  EXPECT_THAT(shift("left"), StatusIs(kInvalid, HasSubstr("'left'")));
  EXPECT_THAT(shift(nullptr), StatusIs(kInvalid));
}

}  // namespace
}  // namespace reprise::ops
