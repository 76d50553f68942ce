#include "runtime/ops/reduce.h"

#include "tests/runtime/ops/ops_testing.h"
#include "tests/testing/status_matchers.h"

namespace reprise::ops {
namespace {

using ::testing::ElementsAre;
using testing::GraphBuilder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::NodeCase;
using testing::StatusIs;
using testing::WhyNotBatched;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
using Ints = std::vector<int64_t>;

TEST(ReduceTest, AxesAreAnAttributeOrAnInputByOpset) {
  EXPECT_THAT(
      ReadReduce(
          NodeCase("ReduceMean", 13).In({2, 3, 4}).Set("axes", Ints{-1}).view())
          ->axes,
      ElementsAre(2));
  EXPECT_THAT(
      ReadReduce(NodeCase("ReduceMean", 18).In({2, 3, 4}).Ints({-1, -2}).view())
          ->axes,
      ElementsAre(1, 2));
  EXPECT_THAT(
      ReadReduce(NodeCase("ReduceSum", 13).In({2, 3}).Ints({0}).view())->axes,
      ElementsAre(0));
}

TEST(ReduceTest, WithoutAxesEverythingUnlessToldOtherwise) {
  EXPECT_THAT(ReadReduce(NodeCase("ReduceMax", 13).In({2, 3}).view())->axes,
              ElementsAre(0, 1));
  EXPECT_THAT(ReadReduce(NodeCase("ReduceMax", 18)
                             .In({2, 3})
                             .Set("noop_with_empty_axes", int64_t{1})
                             .view())
                  ->axes,
              IsEmpty());
}

TEST(ReduceTest, KeepdimsDecidesTheRank) {
  EXPECT_EQ(NodeCase("ReduceL2", 18).In({2, 3, 4}).Ints({-1, -2}).OutDims(),
            (Dims{2, 1, 1}));
  EXPECT_EQ(NodeCase("ReduceL2", 18)
                .In({2, 3, 4})
                .Ints({-1, -2})
                .Set("keepdims", int64_t{0})
                .OutDims(),
            (Dims{2}));
  EXPECT_EQ(NodeCase("ReduceProd", 13).In({}).OutDims(), Dims{});
}

TEST(ReduceTest, BadAxesAreRefused) {
  EXPECT_THAT(NodeCase("ReduceMin", 13).In({2, 3}).Set("axes", Ints{2}).Infer(),
              StatusIs(kInvalid, HasSubstr("axis 2")));
  EXPECT_THAT(
      NodeCase("ReduceMin", 13).In({2, 3}).Set("axes", Ints{1, -1}).Infer(),
      StatusIs(kInvalid, HasSubstr("repeat")));
}

TEST(ArgTest, SelectLastComesWithOpset12) {
  const auto read = [](int version) {
    return ReadArg(NodeCase("ArgMax", version)
                       .In({2, 3})
                       .Set("axis", int64_t{-1})
                       .Set("select_last_index", int64_t{1})
                       .view());
  };
  EXPECT_FALSE(read(11)->select_last);
  EXPECT_TRUE(read(12)->select_last);
  EXPECT_EQ(read(12)->axis, 1);
  const auto types = NodeCase("ArgMin", 13).In({2, 3}).Infer();
  EXPECT_EQ((*types)[0].dtype, DType::kInt64);
  EXPECT_EQ((*types)[0].dims, (Dims{1, 3}));
  EXPECT_THAT(NodeCase("ArgMax", 13).In({0, 3}).Infer(),
              StatusIs(kInvalid, HasSubstr("empty")));
}

TEST(CumSumTest, ReadsItsAxis) {
  const auto params = ReadCumSum(NodeCase("CumSum", 14)
                                     .In({2, 3})
                                     .Ints({-1})
                                     .Set("reverse", int64_t{1})
                                     .view());
  ASSERT_TRUE(params.ok()) << params.status();
  EXPECT_EQ(params->axis, 1);
  EXPECT_TRUE(params->reverse);
  EXPECT_FALSE(params->exclusive);
}

GraphBuilder Reduced(const Ints& axes, int64_t keepdims) {
  GraphBuilder builder(18);
  builder.Input("x", {-1, 3, 4})
      .Ints("axes", axes)
      .Node("ReduceMean", {"x", "axes"}, {"y"})
      .Set("keepdims", keepdims)
      .Output("y");
  return builder;
}

TEST(ReduceBatchTest, OnlyTheOtherAxesMayBeReduced) {
  EXPECT_EQ(WhyNotBatched(Reduced({-1, -2}, 0)), "");
  EXPECT_EQ(WhyNotBatched(Reduced({1}, 1)), "");
  EXPECT_THAT(WhyNotBatched(Reduced({0}, 1)),
              HasSubstr("node 0 (ReduceMean): reduces over the batch axis"));
}

TEST(ReduceBatchTest, ATransposedBatchMovesForward) {
  EXPECT_EQ(WhyNotBatched(GraphBuilder(13)
                              .Input("x", {-1, 3})
                              .Node("Transpose", {"x"}, {"t"})
                              .Node("ArgMax", {"t"}, {"y"})
                              .Set("keepdims", int64_t{0})
                              .Output("y")),
            "");
}

TEST(ReduceTest, BoolsHaveExtremesFromOpset20On) {
  EXPECT_EQ(NodeCase("ReduceMax", 20).In({2, 3}, DType::kBool).OutDims(),
            (Dims{1, 1}));
  EXPECT_THAT(NodeCase("ReduceMax", 18).In({2, 3}, DType::kBool).Infer(),
              StatusIs(absl::StatusCode::kUnimplemented));
  EXPECT_THAT(NodeCase("ReduceSum", 20).In({2, 3}, DType::kBool).Infer(),
              StatusIs(absl::StatusCode::kUnimplemented));
}

TEST(ReduceBatchTest, ASumAlongAnAxisThatTheRowsChooseIsRefused) {
  // The axis is the number of rows less one: 1 of 2 rows, 2 of 3.
  EXPECT_THAT(WhyNotBatched(GraphBuilder(14)
                                .Input("x", {-1, 3, 4})
                                .Node("Shape", {"x"}, {"s"})
                                .Ints("zero", {0})
                                .Ints("one", {1})
                                .Node("Gather", {"s", "zero"}, {"n"})
                                .Node("Sub", {"n", "one"}, {"axis"})
                                .Node("CumSum", {"x", "axis"}, {"y"})
                                .Output("y")),
              HasSubstr("sums by the number of rows"));
}

}  // namespace
}  // namespace reprise::ops
