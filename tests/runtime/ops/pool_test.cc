#include "runtime/ops/pool.h"

#include <string>

#include "tests/runtime/ops/ops_testing.h"
#include "tests/testing/status_matchers.h"

namespace reprise::ops {
namespace {

using ::testing::ElementsAre;
using testing::GraphBuilder;
using ::testing::HasSubstr;
using testing::NodeCase;
using testing::StatusIs;
using testing::WhyNotBatched;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
using Ints = std::vector<int64_t>;

TEST(PoolTest, ReadsItsGeometry) {
  const auto pool = ReadPool(NodeCase("AveragePool", 11)
                                 .In({1, 2, 6, 6})
                                 .Set("kernel_shape", Ints{3, 3})
                                 .Set("strides", Ints{2, 2})
                                 .Set("ceil_mode", int64_t{1})
                                 .Set("count_include_pad", int64_t{1})
                                 .view());
  ASSERT_TRUE(pool.ok()) << pool.status();
  EXPECT_EQ(pool->output, (Dims{1, 2, 3, 3}));
  EXPECT_TRUE(pool->count_include_pad);
  EXPECT_FALSE(pool->global);
}

TEST(PoolTest, GlobalPoolingIsAWindowOfEverything) {
  const auto pool =
      ReadPool(NodeCase("GlobalAveragePool", 1).In({1, 2, 6, 5}).view());
  ASSERT_TRUE(pool.ok()) << pool.status();
  EXPECT_TRUE(pool->global);
  EXPECT_THAT(pool->window.kernel, ElementsAre(6, 5));
  EXPECT_EQ(pool->output, (Dims{1, 2, 1, 1}));
}

TEST(PoolTest, MaxPoolHasIndicesToo) {
  const auto types = NodeCase("MaxPool", 12)
                         .In({1, 2, 6})
                         .Set("kernel_shape", Ints{2})
                         .Infer();
  ASSERT_TRUE(types.ok()) << types.status();
  ASSERT_EQ(types->size(), 2u);
  EXPECT_EQ((*types)[1].dtype, DType::kInt64);
}

TEST(PoolTest, AKernelIsRequired) {
  EXPECT_THAT(NodeCase("MaxPool", 12).In({1, 2, 6}).Infer(),
              StatusIs(kInvalid, HasSubstr("kernel_shape []")));
  EXPECT_THAT(
      NodeCase("MaxPool", 12).In({1, 2}).Set("kernel_shape", Ints{}).Infer(),
      StatusIs(kInvalid, HasSubstr("no spatial axis")));
}

TEST(PoolBatchTest, RowsAndChannelsStayApart) {
  EXPECT_EQ(WhyNotBatched(GraphBuilder()
                              .Input("x", {-1, 2, 4})
                              .Node("GlobalMaxPool", {"x"}, {"y"})
                              .Output("y")),
            "");
  EXPECT_THAT(WhyNotBatched(GraphBuilder()
                                .Input("x", {-1, 2, 4})
                                .Node("Transpose", {"x"}, {"t"})
                                .Node("GlobalMaxPool", {"t"}, {"y"})
                                .Output("y")),
              HasSubstr("pools over the batch axis"));
}

TEST(PoolBatchTest, IndicesCountOverAllRows) {
  EXPECT_THAT(WhyNotBatched(GraphBuilder()
                                .Input("x", {-1, 2, 4})
                                .Node("MaxPool", {"x"}, {"y", "i"})
                                .Set("kernel_shape", Ints{2})
                                .Output("y")
                                .Output("i")),
              HasSubstr("indices count over all rows"));
}

}  // namespace
}  // namespace reprise::ops
