#include "runtime/ops/scatter.h"

#include <string>

#include "tests/runtime/ops/ops_testing.h"
#include "tests/testing/status_matchers.h"

namespace reprise::ops {
namespace {

using testing::FloatTensor;
using testing::GraphBuilder;
using ::testing::HasSubstr;
using testing::Int64Tensor;
using testing::IsOkAndHolds;
using testing::NodeCase;
using testing::StatusIs;
using testing::WhyNotBatched;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

TEST(ScatterTest, TheOutputIsTheDataWithUpdates) {
  EXPECT_EQ(NodeCase("ScatterElements", 13)
                .In({3, 3})
                .In({2, 3}, DType::kInt64)
                .In({2, 3})
                .OutDims(),
            (Dims{3, 3}));
  EXPECT_EQ(NodeCase("Scatter", 10)
                .In({3, 3})
                .In({2, 3}, DType::kInt32)
                .In({2, 3})
                .OutDims(),
            (Dims{3, 3}));
  EXPECT_EQ(NodeCase("ScatterND", 13)
                .In({4, 5})
                .In({2, 1}, DType::kInt64)
                .In({2, 5})
                .OutDims(),
            (Dims{4, 5}));
}

TEST(ScatterTest, RefusesUpdatesThatDoNotFit) {
  EXPECT_THAT(NodeCase("ScatterElements", 13)
                  .In({3, 3})
                  .In({2, 3}, DType::kInt64)
                  .In({2, 2})
                  .Infer(),
              StatusIs(kInvalid, HasSubstr("updates are FP32 [2,2]")));
  EXPECT_THAT(NodeCase("ScatterElements", 13)
                  .In({3, 3})
                  .In({2, 4}, DType::kInt64)
                  .In({2, 4})
                  .Infer(),
              StatusIs(kInvalid, HasSubstr("do not fit the data")));
  EXPECT_THAT(NodeCase("ScatterND", 13)
                  .In({4, 5})
                  .In({2, 1}, DType::kInt64)
                  .In({2, 4})
                  .Infer(),
              StatusIs(kInvalid, HasSubstr("not FP32 [2,5]")));
  EXPECT_THAT(NodeCase("ScatterND", 13)
                  .In({4, 5})
                  .In({2, 1}, DType::kInt64)
                  .In({2, 5}, DType::kInt64)
                  .Infer(),
              StatusIs(kInvalid));
}

TEST(ScatterTest, ReductionsCameWithOpsets16And18) {
  const auto read = [](int version, const std::string& word) {
    NodeCase node("ScatterND", version);
    node.Set("reduction", word);
    return ReadScatterReduction(node.view());
  };
  EXPECT_THAT(read(13, "add"), IsOkAndHolds(ScatterReduction::kNone));
  EXPECT_THAT(read(16, "add"), IsOkAndHolds(ScatterReduction::kAdd));
  EXPECT_THAT(read(16, "max"), StatusIs(kInvalid, HasSubstr("'max'")));
  EXPECT_THAT(read(18, "max"), IsOkAndHolds(ScatterReduction::kMax));
}

TEST(ScatterTest, BoolsAreMovedButNotAdded) {
  const auto infer = [](const std::string& reduction) {
    return NodeCase("ScatterND", 16)
        .In({4}, DType::kBool)
        .In({2, 1}, DType::kInt64)
        .In({2}, DType::kBool)
        .Set("reduction", reduction)
        .Infer();
  };
  EXPECT_TRUE(infer("none").ok());
  EXPECT_THAT(infer("add"), StatusIs(kUnimplemented));
}

TEST(OneHotTest, PutsAnAxisIn) {
  const auto dims = [](int64_t axis) {
    return NodeCase("OneHot", 11)
        .In({2, 3}, DType::kInt64)
        .Known(Int64Tensor({}, {5}))
        .In({2})
        .Set("axis", axis)
        .OutDims();
  };
  EXPECT_EQ(dims(-1), (Dims{2, 3, 5}));
  EXPECT_EQ(dims(0), (Dims{5, 2, 3}));
  EXPECT_EQ(dims(-2), (Dims{2, 5, 3}));
}

TEST(OneHotTest, RefusesADepthThatIsNotKnownOrNegative) {
  EXPECT_THAT(NodeCase("OneHot", 11)
                  .In({2}, DType::kInt64)
                  .In({}, DType::kInt64)
                  .In({2})
                  .Infer(),
              StatusIs(kUnimplemented, HasSubstr("'depth' depends on")));
  EXPECT_THAT(NodeCase("OneHot", 11)
                  .In({2}, DType::kInt64)
                  .Known(Int64Tensor({}, {-1}))
                  .In({2})
                  .Infer(),
              StatusIs(kInvalid, HasSubstr("depth is -1")));
  EXPECT_THAT(NodeCase("OneHot", 11)
                  .In({2}, DType::kInt64)
                  .Known(Int64Tensor({}, {4}))
                  .In({3})
                  .Infer(),
              StatusIs(kInvalid, HasSubstr("off and on")));
}

TEST(ScatterBatchTest, AllThreeCarryTheRowsOrNoneDoes) {
  const auto why = [](int64_t axis) {
    return WhyNotBatched(GraphBuilder()
                             .Input("x", {-1, 4})
                             .Input("i", {-1, 2}, {}, DType::kInt64)
                             .Input("u", {-1, 2})
                             .Node("ScatterElements", {"x", "i", "u"}, {"y"})
                             .Set("axis", axis)
                             .Output("y"));
  };
  EXPECT_EQ(why(1), "");
  EXPECT_THAT(why(0), HasSubstr("indexes the batch axis (0)"));
  EXPECT_THAT(WhyNotBatched(GraphBuilder()
                                .Input("x", {-1, 2})
                                .Constant("i", Int64Tensor({1, 2}, {0, 1}))
                                .Constant("u", FloatTensor({1, 2}, {7, 8}))
                                .Node("ScatterElements", {"x", "i", "u"}, {"y"})
                                .Set("axis", int64_t{1})
                                .Output("y")),
              HasSubstr("do not all vary by row"));
}

TEST(ScatterBatchTest, NdScattersBesideTheBatchAxisOnly) {
  EXPECT_THAT(WhyNotBatched(GraphBuilder()
                                .Input("x", {-1, 2})
                                .Constant("i", Int64Tensor({1, 1}, {0}))
                                .Constant("u", FloatTensor({1, 2}, {7, 8}))
                                .Node("ScatterND", {"x", "i", "u"}, {"y"})
                                .Output("y")),
              HasSubstr("do not carry the rows together"));
  // The batch moved behind the axis that is indexed.
  EXPECT_EQ(WhyNotBatched(GraphBuilder()
                              .Input("x", {-1, 2})
                              .Node("Transpose", {"x"}, {"t"})
                              .Constant("i", Int64Tensor({2, 1}, {0, 1}))
                              .Node("Relu", {"t"}, {"u"})
                              .Node("ScatterND", {"t", "i", "u"}, {"s"})
                              .Node("Transpose", {"s"}, {"y"})
                              .Output("y")),
            "");
}

TEST(ScatterBatchTest, OneHotKeepsRowsOfItsIndices) {
  EXPECT_EQ(WhyNotBatched(GraphBuilder()
                              .Input("i", {-1, 3}, {}, DType::kInt64)
                              .Constant("depth", Int64Tensor({}, {4}))
                              .Constant("values", FloatTensor({2}, {0, 1}))
                              .Node("OneHot", {"i", "depth", "values"}, {"y"})
                              .Output("y")),
            "");
  EXPECT_THAT(WhyNotBatched(GraphBuilder()
                                .Input("i", {-1, 3}, {}, DType::kInt64)
                                .Constant("depth", Int64Tensor({}, {4}))
                                .Constant("values", FloatTensor({2}, {0, 1}))
                                .Node("OneHot", {"i", "depth", "values"}, {"y"})
                                .Set("axis", int64_t{0})
                                .Output("y")),
              HasSubstr("axis 0"));
}

}  // namespace
}  // namespace reprise::ops
