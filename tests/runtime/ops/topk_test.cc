#include "runtime/ops/topk.h"

#include "tests/runtime/ops/ops_testing.h"
#include "tests/testing/status_matchers.h"

namespace reprise::ops {
namespace {

using testing::GraphBuilder;
using ::testing::HasSubstr;
using testing::Int64Tensor;
using testing::NodeCase;
using testing::StatusIs;
using testing::WhyNotBatched;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(TopKTest, KIsAnAttributeBelowOpset10) {
  const auto types =
      NodeCase("TopK", 9).In({2, 5}).Set("k", int64_t{3}).Outputs(2).Infer();
  ASSERT_TRUE(types.ok()) << types.status();
  EXPECT_EQ((*types)[0].dims, (Dims{2, 3}));
  EXPECT_EQ((*types)[0].dtype, DType::kFp32);
  EXPECT_EQ((*types)[1].dims, (Dims{2, 3}));
  EXPECT_EQ((*types)[1].dtype, DType::kInt64);
}

TEST(TopKTest, KMayBeAKnownInput) {
  EXPECT_EQ(NodeCase("TopK", 10).In({2, 5}).Ints({1}).OutDims(), (Dims{2, 1}));
  EXPECT_EQ(NodeCase("TopK", 11)
                .In({2, 5})
                .Known(Int64Tensor({}, {2}))
                .Set("axis", int64_t{0})
                .OutDims(),
            (Dims{2, 5}));
  EXPECT_THAT(NodeCase("TopK", 11).In({2, 5}).In({1}, DType::kInt64).Infer(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("'K' depends on the data")));
}

TEST(TopKTest, RefusesMoreThanThereIs) {
  EXPECT_THAT(NodeCase("TopK", 11).In({2, 5}).Ints({6}).Infer(),
              StatusIs(kInvalid, HasSubstr("K is 6, but axis 1 has 5")));
  EXPECT_THAT(NodeCase("TopK", 11).In({2, 5}).Ints({-1}).Infer(),
              StatusIs(kInvalid));
  EXPECT_THAT(NodeCase("TopK", 11).In({}).Ints({1}).Infer(),
              StatusIs(kInvalid, HasSubstr("scalar")));
  EXPECT_THAT(NodeCase("TopK", 11).In({2, 5}).Ints({1, 1}).Infer(),
              StatusIs(kInvalid, HasSubstr("not one integer")));
}

TEST(TopKTest, LargestCameWithOpset11) {
  NodeCase node("TopK", 10);
  node.In({5}).Ints({1}).Set("largest", int64_t{0});
  EXPECT_TRUE(ReadTopK(node.view())->largest);
  NodeCase later("TopK", 11);
  later.In({5}).Ints({1}).Set("largest", int64_t{0});
  EXPECT_FALSE(ReadTopK(later.view())->largest);
}

TEST(TopKTest, RowsMayBeSortedButNotTheBatch) {
  const auto why = [](int64_t axis) {
    return WhyNotBatched(GraphBuilder()
                             .Input("x", {-1, 4})
                             .Ints("k", {2})
                             .Node("TopK", {"x", "k"}, {"y", "i"})
                             .Set("axis", axis)
                             .Output("y")
                             .Output("i"));
  };
  EXPECT_EQ(why(1), "");
  EXPECT_THAT(why(0), HasSubstr("sorts the batch axis (0)"));
  EXPECT_THAT(WhyNotBatched(GraphBuilder()
                                .Input("x", {-1, 5000})
                                .Node("Shape", {"x"}, {"s"})
                                .Ints("zero", {0})
                                .Node("Gather", {"s", "zero"}, {"k"})
                                .Node("TopK", {"x", "k"}, {"y", "i"})
                                .Output("y")),
              HasSubstr("picks by the number of rows"));
}

}  // namespace
}  // namespace reprise::ops
