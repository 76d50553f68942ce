#include "runtime/ops/generate.h"

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

TEST(FillTest, TakesDtypeAndZeroByDefault) {
  const auto types = NodeCase("ConstantOfShape", 9).Ints({2, 0}).Infer();
  ASSERT_TRUE(types.ok()) << types.status();
  EXPECT_EQ((*types)[0].dtype, DType::kFp32);
  EXPECT_EQ((*types)[0].dims, (Dims{2, 0}));
  EXPECT_THAT(NodeCase("ConstantOfShape", 9).Ints({2, -1}).Infer(),
              StatusIs(kInvalid));
}

TEST(RangeTest, CountsItsElements) {
  EXPECT_EQ(NodeCase("Range", 11)
                .Known(Int64Tensor({}, {10}))
                .Known(Int64Tensor({}, {4}))
                .Known(Int64Tensor({}, {-2}))
                .OutDims(),
            (Dims{3}));
  EXPECT_EQ(NodeCase("Range", 11)
                .Known(FloatTensor({}, {0}))
                .Known(FloatTensor({}, {-1}))
                .Known(FloatTensor({}, {1}))
                .OutDims(),
            (Dims{0}));
  EXPECT_THAT(NodeCase("Range", 11)
                  .Known(Int64Tensor({}, {0}))
                  .Known(Int64Tensor({}, {4}))
                  .Known(Int64Tensor({}, {0}))
                  .Infer(),
              StatusIs(kInvalid, HasSubstr("no end")));
}

GraphBuilder Rows(Dims row) {
  row.insert(row.begin(), -1);
  GraphBuilder builder;
  builder.Input("x", row);
  return builder;
}

TEST(GenerateBatchTest, CountingTheRowsIsRefused) {
  EXPECT_NE(WhyNotBatched(Rows({1})
                              .Node("Shape", {"x"}, {"s"})
                              .Constant("at", Int64Tensor({}, {0}))
                              .Node("Gather", {"s", "at"}, {"n"})
                              .Constant("from", Int64Tensor({}, {0}))
                              .Constant("by", Int64Tensor({}, {1}))
                              .Node("Range", {"from", "n", "by"}, {"r"})
                              .Node("Cast", {"r"}, {"f"})
                              .Set("to", int64_t{1})
                              .Ints("axes", {1})
                              .Node("Unsqueeze", {"f", "axes"}, {"u"})
                              .Node("Add", {"x", "u"}, {"y"})
                              .Output("y")),
            "");
}

}  // namespace
}  // namespace reprise::ops
