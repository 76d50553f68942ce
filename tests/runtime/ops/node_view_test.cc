#include "runtime/ops/node_view.h"

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

TEST(NodeViewTest, ShowsTypesConstantsAndGaps) {
  const graph::Graph graph = GraphBuilder()
                                 .Input("x", {2})
                                 .Constant("c", FloatTensor({}, {6}))
                                 .Node("Clip", {"x", "", "c"}, {"y"})
                                 .Output("y")
                                 .Build();
  Signature signature;
  signature.inputs = {{"x", DType::kFp32, {2}, {""}}};
  const absl::StatusOr<BoundGraph> bound = Bind(graph, signature, 1, {});
  ASSERT_TRUE(bound.ok()) << bound.status();
  const NodeView view = ViewOf(*bound, 0);
  EXPECT_EQ(view.op(), "Clip");
  EXPECT_EQ(view.input_count(), 3u);
  EXPECT_EQ(view.dims(0), (Dims{2}));
  EXPECT_EQ(view.constant(0), nullptr);
  EXPECT_FALSE(view.Has(1));
  EXPECT_EQ(view.constant(2)->values<float>()[0], 6);
  EXPECT_FALSE(view.Has(3));
}

TEST(AxisTest, CountsFromEitherEnd) {
  EXPECT_THAT(NormalizeAxis(-1, 3), IsOkAndHolds(2));
  EXPECT_THAT(NormalizeAxis(0, 0), IsOkAndHolds(0));
  EXPECT_THAT(NormalizeAxis(3, 3), StatusIs(absl::StatusCode::kInvalidArgument,
                                            HasSubstr("axis 3")));
  EXPECT_THAT(NormalizeAxis(-4, 3),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(AxisTest, AxesAreSortedAndDistinct) {
  EXPECT_THAT(NormalizeAxes({-1, 0}, 3), IsOkAndHolds(ElementsAre(0, 2)));
  EXPECT_THAT(NormalizeAxes({2, -1}, 3),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("repeat an axis")));
}

TEST(ConstantIntsTest, ReadsListsAndRefusesWhatIsNone) {
  EXPECT_THAT(
      ConstantInts(NodeCase("Tile", 13).Ints({2, 3}).view(), 0, "repeats"),
      IsOkAndHolds(ElementsAre(2, 3)));
  EXPECT_THAT(ConstantInts(NodeCase("Tile", 13).In({2}).view(), 0, "repeats"),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("'repeats' depends on the data")));
  EXPECT_THAT(
      ConstantInts(NodeCase("Tile", 13).Known(FloatTensor({1}, {2})).view(), 0,
                   "repeats"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("FP32")));
  EXPECT_THAT(
      ConstantInts(NodeCase("Tile", 13).Known(Int64Tensor({1, 1}, {2})).view(),
                   0, "repeats"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("rank 2")));
  EXPECT_THAT(
      ConstantInts(NodeCase("Tile", 13).view(), 0, "repeats"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("missing")));
}

TEST(ConstantNumberTest, ReadsOneElementOfAnyDtype) {
  HostTensor half = HostTensor::Create(DType::kFp16, {1}).value();
  half.values<uint16_t>()[0] = 0xc000;
  EXPECT_THAT(ConstantNumber(NodeCase("Clip", 13).Known(std::move(half)).view(),
                             0, "min"),
              IsOkAndHolds(-2.0));
  EXPECT_THAT(
      ConstantNumber(NodeCase("Clip", 13).Known(Int64Tensor({}, {7})).view(), 0,
                     "min"),
      IsOkAndHolds(7.0));
  EXPECT_THAT(
      ConstantNumber(NodeCase("Clip", 13).Ints({7, 8}).view(), 0, "min"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("2 elements")));
}

}  // namespace
}  // namespace reprise::ops
