#include <cstdint>
#include <limits>

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

TEST(MatMulTest, BroadcastsBatches) {
  EXPECT_THAT(Values<float>(OpTester("MatMul", 13)
                                .In(F32({2, 1, 2}, {1, 2, 3, 4}))
                                .In(F32({2, 2}, {1, 2, 3, 4}))
                                .Result()),
              ElementsAre(7, 10, 15, 22));
}

TEST(MatMulTest, VectorsLoseTheirAxis) {
  const HostTensor dot = OpTester("MatMul", 13)
                             .In(F32({3}, {1, 2, 3}))
                             .In(F32({3}, {4, 5, 6}))
                             .Result();
  EXPECT_TRUE(dot.dims().empty());
  EXPECT_EQ(dot.values<float>()[0], 32);
}

TEST(MatMulTest, GemmTransposesScalesAndAdds) {
  EXPECT_THAT(Values<float>(OpTester("Gemm", 13)
                                .In(F32({2, 1}, {1, 2}))
                                .In(F32({2, 2}, {1, 2, 3, 4}))
                                .In(F32({2}, {10, 20}))
                                .Set("transA", int64_t{1})
                                .Set("transB", int64_t{1})
                                .Set("alpha", 2.0F)
                                .Set("beta", 0.5F)
                                .Result()),
              ElementsAre(15, 32));
}

TEST(MatMulTest, MultipliesIntegers) {
  EXPECT_THAT(Values<int64_t>(OpTester("MatMul", 13)
                                  .In(I64({1, 2}, {1, 2}))
                                  .In(I64({2, 1}, {3, 4}))
                                  .Result()),
              ElementsAre(11));
}

TEST(MatMulTest, SumsOfIntegersWrapAround) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_THAT(Values<int64_t>(OpTester("MatMul", 13)
                                  .In(I64({1, 2}, {most, 1}))
                                  .In(I64({2, 1}, {2, 5}))
                                  .Result()),
              ElementsAre(3));
}

TEST(MatMulTest, GemmOfIntegersIsExactWithoutFactorsAndClampedWithThem) {
  constexpr int64_t large = (int64_t{1} << 60) + 1;
  const auto gemm = [](float alpha) {
    return Values<int64_t>(OpTester("Gemm", 13)
                               .In(I64({1, 1}, {large}))
                               .In(I64({1, 1}, {1}))
                               .In(I64({1}, {1}))
                               .Set("alpha", alpha)
                               .Result());
  };
  EXPECT_THAT(gemm(1.0F), ElementsAre(large + 1));
  // The greatest integer, and one more wraps around.
  EXPECT_THAT(gemm(1e6F), ElementsAre(std::numeric_limits<int64_t>::min()));
}

}  // namespace
}  // namespace reprise::cpu
