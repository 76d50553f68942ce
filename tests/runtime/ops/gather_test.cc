#include "runtime/ops/gather.h"

#include <vector>

#include "tests/runtime/ops/ops_testing.h"
#include "tests/testing/status_matchers.h"

namespace reprise::ops {
namespace {

using testing::FloatTensor;
using testing::GraphBuilder;
using ::testing::HasSubstr;
using testing::Int64Tensor;
using testing::NodeCase;
using testing::StatusIs;
using testing::WhyNotBatched;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

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

TEST(GatherTest, ElementsAreChosenAlongOneAxisOnly) {
  EXPECT_EQ(NodeCase("GatherElements", 13)
                .In({2, 3})
                .In({2, 7}, DType::kInt64)
                .Set("axis", int64_t{1})
                .OutDims(),
            (Dims{2, 7}));
  EXPECT_THAT(NodeCase("GatherElements", 13)
                  .In({2, 3})
                  .In({3, 1}, DType::kInt64)
                  .Set("axis", int64_t{1})
                  .Infer(),
              StatusIs(kInvalid, HasSubstr("do not fit the data [2,3]")));
}

TEST(GatherTest, NdTakesTuples) {
  EXPECT_EQ(NodeCase("GatherND", 13)
                .In({4, 5, 6})
                .In({7, 2}, DType::kInt64)
                .OutDims(),
            (Dims{7, 6}));
  EXPECT_EQ(NodeCase("GatherND", 13)
                .In({4, 5, 6})
                .In({4, 1}, DType::kInt64)
                .Set("batch_dims", int64_t{1})
                .OutDims(),
            (Dims{4, 6}));
  for (const Dims& bad : {Dims{7, 4}, Dims{7, 0}, Dims{}}) {
    EXPECT_THAT(
        NodeCase("GatherND", 13).In({4, 5, 6}).In(bad, DType::kInt64).Infer(),
        StatusIs(kInvalid, HasSubstr("do not index")));
  }
  EXPECT_THAT(NodeCase("GatherND", 13)
                  .In({4, 5})
                  .In({3, 1}, DType::kInt64)
                  .Set("batch_dims", int64_t{1})
                  .Infer(),
              StatusIs(kInvalid, HasSubstr("after 1 batch axes")));
}

GraphBuilder Rows(Dims row) {
  row.insert(row.begin(), -1);
  GraphBuilder builder;
  builder.Input("x", row);
  return builder;
}

TEST(GatherBatchTest, GatherMayIndexAnythingButTheBatch) {
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

TEST(GatherBatchTest, AnIndexChosenByARowsPositionIsRefused) {
  // Row r would read row r of the table: another answer in another place.
  EXPECT_THAT(WhyNotBatched(
                  GraphBuilder()
                      .Input("i", {-1, 2}, {}, DType::kInt64)
                      .Constant("table", FloatTensor({5000, 2},
                                                     std::vector<float>(10000)))
                      .Node("GatherElements", {"table", "i"}, {"y"})
                      .Set("axis", int64_t{1})
                      .Output("y")),
              HasSubstr("position"));
  EXPECT_EQ(WhyNotBatched(GraphBuilder()
                              .Input("x", {-1, 4})
                              .Input("i", {-1, 2}, {}, DType::kInt64)
                              .Node("GatherElements", {"x", "i"}, {"y"})
                              .Set("axis", int64_t{1})
                              .Output("y")),
            "");
}

TEST(GatherBatchTest, NdNeedsBatchDimsForRowsOnBothSides) {
  const auto why = [](int64_t batch_dims) {
    return WhyNotBatched(GraphBuilder()
                             .Input("x", {-1, 4, 3})
                             .Input("i", {-1, 2, 1}, {}, DType::kInt64)
                             .Node("GatherND", {"x", "i"}, {"y"})
                             .Set("batch_dims", batch_dims)
                             .Output("y"));
  };
  EXPECT_EQ(why(1), "");
  EXPECT_THAT(why(0), HasSubstr("both vary by row"));
  // A table that is the same for all.
  EXPECT_EQ(WhyNotBatched(GraphBuilder()
                              .Input("i", {-1, 1}, {}, DType::kInt64)
                              .Constant("table", FloatTensor({2, 1}, {5, 6}))
                              .Node("GatherND", {"table", "i"}, {"y"})
                              .Output("y")),
            "");
  EXPECT_THAT(WhyNotBatched(Rows({4})
                                .Constant("i", Int64Tensor({1, 1}, {0}))
                                .Node("GatherND", {"x", "i"}, {"y"})
                                .Output("y")),
              HasSubstr("indexes the batch axis (0)"));
}

}  // namespace
}  // namespace reprise::ops
