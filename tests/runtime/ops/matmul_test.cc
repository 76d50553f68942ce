#include "runtime/ops/matmul.h"

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

TEST(MatMulTest, BroadcastsLeadingDims) {
  const auto params =
      ReadMatMul(NodeCase("MatMul", 13).In({5, 1, 2, 3}).In({4, 3, 6}).view());
  ASSERT_TRUE(params.ok()) << params.status();
  EXPECT_EQ(params->m, 2);
  EXPECT_EQ(params->k, 3);
  EXPECT_EQ(params->n, 6);
  EXPECT_EQ(params->batch, (Dims{5, 4}));
  EXPECT_EQ(params->output, (Dims{5, 4, 2, 6}));
}

TEST(MatMulTest, VectorsLoseTheirAxis) {
  EXPECT_EQ(NodeCase("MatMul", 13).In({3}).In({3}).OutDims(), Dims{});
  EXPECT_EQ(NodeCase("MatMul", 13).In({3}).In({2, 3, 4}).OutDims(),
            (Dims{2, 4}));
  EXPECT_EQ(NodeCase("MatMul", 13).In({2, 4, 3}).In({3}).OutDims(),
            (Dims{2, 4}));
}

TEST(MatMulTest, RefusesWhatDoesNotFit) {
  EXPECT_THAT(NodeCase("MatMul", 13).In({2, 3}).In({4, 5}).Infer(),
              StatusIs(kInvalid, HasSubstr("[2,3] and [4,5] do not fit")));
  EXPECT_THAT(NodeCase("MatMul", 13).In({2, 2, 3}).In({3, 3, 5}).Infer(),
              StatusIs(kInvalid));
  EXPECT_THAT(NodeCase("MatMul", 13).In({}).In({1}).Infer(),
              StatusIs(kInvalid));
  EXPECT_THAT(NodeCase("MatMul", 13).In({2, 3}).In({3, 4}).In({3}).Infer(),
              StatusIs(kInvalid, HasSubstr("bias [3] is not [4]")));
}

TEST(GemmTest, TransposesAndBroadcastsC) {
  const auto params = ReadGemm(NodeCase("Gemm", 13)
                                   .In({3, 2})
                                   .In({4, 3})
                                   .In({2, 1})
                                   .Set("transA", int64_t{1})
                                   .Set("transB", int64_t{1})
                                   .Set("alpha", 0.5f)
                                   .view());
  ASSERT_TRUE(params.ok()) << params.status();
  EXPECT_EQ(params->m, 2);
  EXPECT_EQ(params->n, 4);
  EXPECT_EQ(params->k, 3);
  EXPECT_EQ(params->alpha, 0.5f);
  EXPECT_EQ(params->beta, 1.0f);
  EXPECT_TRUE(params->has_c);
}

TEST(GemmTest, RefusesWhatDoesNotFit) {
  EXPECT_THAT(NodeCase("Gemm", 13).In({2, 3}).In({4, 3}).Infer(),
              StatusIs(kInvalid));
  EXPECT_THAT(NodeCase("Gemm", 13).In({1, 2, 3}).In({3, 4}).Infer(),
              StatusIs(kInvalid));
  EXPECT_THAT(NodeCase("Gemm", 13).In({2, 3}).In({3, 4}).In({5}).Infer(),
              StatusIs(kInvalid, HasSubstr("C [5]")));
}

GraphBuilder WithWeights() {
  GraphBuilder builder;
  builder.Input("x", {-1, 2}).Constant("w", FloatTensor({2, 2}, {1, 2, 3, 4}));
  return builder;
}

TEST(MatMulBatchTest, RowsOfTheLeftMatrixStayApart) {
  EXPECT_EQ(WhyNotBatched(
                WithWeights().Node("MatMul", {"x", "w"}, {"y"}).Output("y")),
            "");
  EXPECT_EQ(
      WhyNotBatched(WithWeights().Node("Gemm", {"x", "w"}, {"y"}).Output("y")),
      "");
}

TEST(MatMulBatchTest, SummingOverTheBatchIsRefused) {
  EXPECT_THAT(WhyNotBatched(WithWeights()
                                .Node("Transpose", {"x"}, {"t"})
                                .Node("MatMul", {"t", "x"}, {"y"})
                                .Output("y")),
              HasSubstr("sums over the batch axis"));
  EXPECT_THAT(WhyNotBatched(WithWeights()
                                .Node("Gemm", {"x", "x"}, {"y"})
                                .Set("transA", int64_t{1})
                                .Output("y")),
              HasSubstr("sums over the batch axis"));
}

TEST(MatMulBatchTest, EveryRowAgainstEveryRowIsRefused) {
  EXPECT_THAT(WhyNotBatched(WithWeights()
                                .Node("Transpose", {"x"}, {"t"})
                                .Node("MatMul", {"x", "t"}, {"y"})
                                .Output("y")),
              HasSubstr("merges a batch"));
}

TEST(MatMulBatchTest, AttentionKeepsItsRows) {
  EXPECT_EQ(WhyNotBatched(GraphBuilder()
                              .Input("q", {-1, 2, 5, 4})
                              .Input("k", {-1, 2, 5, 4})
                              .Node("Transpose", {"k"}, {"t"})
                              .Set("perm", std::vector<int64_t>{0, 1, 3, 2})
                              .Node("MatMul", {"q", "t"}, {"y"})
                              .Output("y")),
            "");
}

}  // namespace
}  // namespace reprise::ops
