#include "runtime/ops/matmul.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/cuda/ops/op_tester.h"

namespace reprise::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const LoweringOptions kNaive{.has_cublaslt = false};

TEST(MatMulTest, BatchesAreBroadcastEitherWay) {
  const Dims shapes[][2] = {{{5, 7}, {7, 3}},
                            {{2, 5, 7}, {7, 3}},
                            {{7}, {7, 3}},
                            {{5, 7}, {7}},
                            {{7}, {7}},
                            {{5, 7}, {4, 7, 3}},
                            {{2, 4, 5, 7}, {2, 4, 7, 3}},
                            {{2, 1, 5, 7}, {1, 4, 7, 3}},
                            {{2, 4, 5, 7}, {4, 7, 3}},
                            {{40, 50}, {50, 33}},
                            {{0, 7}, {7, 3}},
                            {{5, 0}, {0, 3}}};
  for (const auto& shape : shapes) {
    for (const bool library : {true, false}) {
      OpTester("MatMul")
          .In(Noise(shape[0], 1))
          .In(Noise(shape[1], 2))
          .With({.has_cublaslt = library})
          .ExpectSame(1e-4);
    }
  }
}

TEST(MatMulTest, TypesTheLibraryHasNotAreMultipliedByOurKernel) {
  for (const DType dtype : {DType::kFp64, DType::kInt32, DType::kInt64,
                            DType::kUint32, DType::kUint64}) {
    OpTester("MatMul")
        .In(Numbers(dtype, {3, 20}, 1))
        .In(Numbers(dtype, {20, 17}, 2))
        .ExpectSameBy("MatMul:naive");
  }
  for (const bool library : {true, false}) {
    OpTester("MatMul")
        .In(Numbers(DType::kFp16, {3, 20}, 1))
        .In(Numbers(DType::kFp16, {20, 17}, 2))
        .With({.has_cublaslt = library})
        .ExpectSame(2e-3);
  }
}

TEST(MatMulTest, HowABatchBecomesAProduct) {
  // One right-hand side: a single tall product.
  EXPECT_THAT(
      OpTester("MatMul").In(Noise({2, 5, 7}, 1)).In(Noise({7, 3}, 2)).Text(),
      HasSubstr("step 0 MatMul:cublaslt scratch 33554432\n"
                "  product FP32 10x3x7 in0 * in1 -> out0\n"));
  EXPECT_THAT(OpTester("MatMul")
                  .In(Noise({2, 4, 5, 7}, 1))
                  .In(Noise({2, 4, 7, 3}, 2))
                  .With({.precision = Precision::kTf32})
                  .Text(),
              HasSubstr("product FP32 tf32 5x3x7 batch 8 in0 * in1 strides "
                        "35,21,0,15 -> out0"));
  // No common stride: a product for each of the outer axis.
  EXPECT_THAT(OpTester("MatMul")
                  .In(Noise({2, 1, 5, 7}, 1))
                  .In(Noise({1, 4, 7, 3}, 2))
                  .Text(),
              HasSubstr("product FP32 5x3x7 batch 4 in0+140 * in1 strides "
                        "0,21,0,15 -> out0+240"));
}

TEST(MatMulTest, GemmWithEveryAddend) {
  const Dims addends[] = {{3}, {1, 3}, {5, 3}, {5, 1}, {1}, {}};
  for (const Dims& addend : addends) {
    for (const int64_t transposed : {0, 1}) {
      for (const float beta : {1.0F, 0.5F}) {
        for (const bool library : {true, false}) {
          OpTester("Gemm")
              .In(Noise(transposed ? Dims{7, 5} : Dims{5, 7}, 1))
              .In(Noise(transposed ? Dims{3, 7} : Dims{7, 3}, 2))
              .In(Noise(addend, 3))
              .Set("transA", transposed)
              .Set("transB", transposed)
              .Set("alpha", 0.25F)
              .Set("beta", beta)
              .With({.has_cublaslt = library})
              .ExpectSame(1e-5);
        }
      }
    }
  }
  OpTester("Gemm").In(Noise({1, 7}, 1)).In(Noise({7, 1}, 2)).ExpectSame();
}

TEST(MatMulTest, IntegersAreScaledByGemmsFactors) {
  OpTester("Gemm")
      .In(Numbers(DType::kInt32, {3, 4}, 1))
      .In(Numbers(DType::kInt32, {4, 5}, 2))
      .In(Numbers(DType::kInt32, {5}, 3))
      .Set("alpha", 0.5F)
      .Set("beta", 1e9F)
      .ExpectSame();
}

// Gemm with an activation that fusion has put there.
OpTester Activated(const std::string& activation, Dims addend) {
  return OpTester("Gemm")
      .In(Noise({5, 7}, 1))
      .In(Noise({7, 3}, 2))
      .In(Noise(addend, 3))
      .Set("activation", activation)
      .Set("activation_alpha", 0.2F)
      .Set("activation_beta", 0.4F);
}

TEST(MatMulTest, ActivationsFollowTheProduct) {
  for (const std::string activation :
       {"Relu", "LeakyRelu", "Clip", "Sigmoid", "Tanh", "HardSigmoid",
        "HardSwish", "Silu"}) {
    for (const Dims& addend : {Dims{3}, Dims{5, 3}, Dims{5, 1}}) {
      Activated(activation, addend).ExpectSame();
      Activated(activation, addend).With(kNaive).ExpectSame();
    }
  }
}

TEST(MatMulTest, TheLibraryAddsRowsAndRectifiesAndAKernelDoesTheRest) {
  EXPECT_THAT(Activated("Relu", {3}).Text(),
              HasSubstr("  product FP32 5x3x7 in0 * in1 + bias in2 relu -> "
                        "out0\n"));
  EXPECT_THAT(Activated("Relu", {3}).Text(), Not(HasSubstr("reprise_")));
  EXPECT_THAT(Activated("Relu", {5, 3}).Text(),
              HasSubstr("  product FP32 5x3x7 in0 * in1 + 1 in2 relu -> out0"));
  EXPECT_THAT(Activated("Tanh", {3}).Text(),
              HasSubstr("+ bias in2 -> out0\n"
                        "  reprise_epilogue_f32<<<1, 256>>>(out0, -, {56:"));
  EXPECT_THAT(Activated("Relu", {5, 1}).Text(),
              HasSubstr("  product FP32 5x3x7 in0 * in1 -> out0\n"
                        "  reprise_epilogue_f32<<<1, 256>>>(out0, in2, {56:"));
}

}  // namespace
}  // namespace reprise::cuda
