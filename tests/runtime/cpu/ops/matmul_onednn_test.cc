#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/cpu/ops/op_tester.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

TEST(MatMulOneDnnTest, GivesTheLoopsAnswer) {
  OpTester("MatMul", 13)
      .In(Noise({5, 24}, 1))
      .In(Noise({24, 17}, 2))
      .ExpectOneDnn("MatMul");
  OpTester("MatMul", 13)
      .In(Noise({2, 3, 4, 8}, 1))
      .In(Noise({8, 5}, 2))
      .ExpectOneDnn("MatMul");
  OpTester("MatMul", 13)
      .In(Noise({2, 3, 4, 8}, 1))
      .In(Noise({3, 8, 5}, 2))
      .ExpectOneDnn("MatMul", {0, 1});
  OpTester("MatMul", 13)
      .In(Noise({4, 8}, 1))
      .In(Noise({3, 8, 5}, 2))
      .ExpectOneDnn("MatMul", {0, 1});
  OpTester("MatMul", 13)
      .In(Noise({8}, 1))
      .In(Noise({3, 8, 5}, 2))
      .ExpectOneDnn("MatMul", {0, 1});
}

TEST(MatMulOneDnnTest, AddsAFusedBiasAndActivation) {
  OpTester("MatMul", 13)
      .In(Noise({2, 4, 8}, 1))
      .In(Noise({8, 5}, 2))
      .In(Noise({5}, 3))
      .Set("activation", std::string("Relu"))
      .ExpectOneDnn("MatMul");
}

TEST(MatMulOneDnnTest, GemmInEveryOrientation) {
  for (const int64_t a : {0, 1}) {
    for (const int64_t b : {0, 1}) {
      OpTester tester("Gemm", 13);
      tester.In(Noise(a == 0 ? Dims{4, 6} : Dims{6, 4}, 1))
          .In(Noise(b == 0 ? Dims{6, 9} : Dims{9, 6}, 2))
          .In(Noise({9}, 3))
          .Set("transA", a)
          .Set("transB", b);
      tester.ExpectOneDnn("Gemm");
      tester.ExpectOneDnn("Gemm", {0, 1, 2});
    }
  }
}

TEST(MatMulOneDnnTest, GemmScalesWeightsAndBroadcastsItsAddend) {
  OpTester("Gemm", 13)
      .In(Noise({4, 6}, 1))
      .In(Noise({6, 9}, 2))
      .In(Noise({4, 1}, 3))
      .Set("alpha", 0.25F)
      .ExpectOneDnn("Gemm");
  OpTester("Gemm", 13)
      .In(Noise({4, 6}, 1))
      .In(Noise({6, 9}, 2))
      .In(Noise({9}, 3))
      .Set("beta", 0.25F)
      .ExpectPlain();
}

}  // namespace
}  // namespace reprise::cpu
