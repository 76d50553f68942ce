#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/tensor/float16.h"
#include "tests/runtime/cpu/ops/op_tester.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

TEST(ReduceTest, ReducesAnyAxes) {
  const HostTensor sum = OpTester("ReduceSum", 13)
                             .In(F32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}))
                             .In(I64({2}, {0, -1}))
                             .Set("keepdims", int64_t{0})
                             .Result();
  EXPECT_THAT(Values<float>(sum), ElementsAre(14, 22));
  EXPECT_THAT(
      Values<float>(
          OpTester("ReduceMean", 13).In(F32({4}, {1, 2, 3, 6})).Result()),
      ElementsAre(3));
}

TEST(ReduceTest, ComputesEachKind) {
  const auto reduce = [](const char* op) {
    return OpTester(op, 13).In(F32({2}, {3, -4})).Result().values<float>()[0];
  };
  EXPECT_EQ(reduce("ReduceMax"), 3);
  EXPECT_EQ(reduce("ReduceMin"), -4);
  EXPECT_EQ(reduce("ReduceProd"), -12);
  EXPECT_EQ(reduce("ReduceL1"), 7);
  EXPECT_EQ(reduce("ReduceL2"), 5);
  EXPECT_EQ(reduce("ReduceSumSquare"), 25);
  EXPECT_NEAR(reduce("ReduceLogSumExp"), std::log(std::exp(3) + std::exp(-4)),
              1e-5);
}

TEST(ReduceTest, LogSumExpDoesNotOverflow) {
  EXPECT_NEAR(OpTester("ReduceLogSumExp", 13)
                  .In(F32({2}, {1000, 1000}))
                  .Result()
                  .values<float>()[0],
              1000.6931, 1e-3);
}

TEST(ReduceTest, KeptAxesMayLieBesideOrBelowThoseThatGo) {
  // Rows are folded into rows where the last axis stays, ...
  HostTensor wide = HostTensor::Create(DType::kFp32, {3, 600}).value();
  for (int64_t i = 0; i < 1800; ++i) {
    wide.values<float>()[i] = static_cast<float>(i % 600 + i / 600);
  }
  const HostTensor down = OpTester("ReduceSum", 13)
                              .In(std::move(wide))
                              .In(I64({1}, {0}))
                              .Set("keepdims", int64_t{0})
                              .Result();
  EXPECT_EQ(down.values<float>()[0], 3);
  EXPECT_EQ(down.values<float>()[599], 3 * 599 + 3);
  // ... and the axes in the middle may go.
  EXPECT_THAT(Values<float>(OpTester("ReduceMax", 18)
                                .In(F32({2, 2, 2}, {1, 8, 3, 4, 5, 6, 7, 2}))
                                .In(I64({1}, {1}))
                                .Result()),
              ElementsAre(3, 8, 7, 6));
}

TEST(ReduceTest, NarrowTypesAreFoldedInWideOnes) {
  EXPECT_THAT(Values<int8_t>(
                  OpTester("ReduceSum", 13)
                      .In(TensorOf<int8_t>(DType::kInt8, {3}, {100, 100, -3}))
                      .Result()),
              ElementsAre(static_cast<int8_t>(197)));  // wraps around
  EXPECT_THAT(Values<uint8_t>(
                  OpTester("ReduceMean", 13)
                      .In(TensorOf<uint8_t>(DType::kUint8, {3}, {250, 250, 1}))
                      .Result()),
              ElementsAre(167));
  EXPECT_THAT(
      Values<int32_t>(OpTester("ReduceL2", 13).In(I32({2}, {3, -4})).Result()),
      ElementsAre(5));
  const Half half(0.1F);
  const HostTensor sum = OpTester("ReduceSum", 13)
                             .In(TensorOf<Half>(DType::kFp16, {1000},
                                                std::vector<Half>(1000, half)))
                             .Result();
  EXPECT_NEAR(static_cast<float>(sum.values<Half>()[0]), 100, 0.1);
}

TEST(ReduceTest, NothingIsTheLeastElementOfTheType) {
  const auto none = [](const char* op, DType dtype) {
    return OpTester(op, 18)
        .In(HostTensor::Create(dtype, {0, 2}).value())
        .In(I64({1}, {0}))
        .Set("keepdims", int64_t{0})
        .Result();
  };
  EXPECT_THAT(Values<int8_t>(none("ReduceMax", DType::kInt8)),
              ElementsAre(-128, -128));
  EXPECT_THAT(Values<uint8_t>(none("ReduceMin", DType::kUint8)),
              ElementsAre(255, 255));
  EXPECT_THAT(Values<float>(none("ReduceMax", DType::kFp32)),
              ElementsAre(-INFINITY, -INFINITY));
  EXPECT_THAT(Values<float>(none("ReduceProd", DType::kFp32)),
              ElementsAre(1, 1));
  EXPECT_THAT(Values<float>(none("ReduceLogSumExp", DType::kFp32)),
              ElementsAre(-INFINITY, -INFINITY));
}

TEST(ReduceTest, OfBoolsTheMaximumIsAnyAndTheMinimumIsAll) {
  const auto reduce = [](const char* op) {
    return Values<uint8_t>(OpTester(op, 20)
                               .In(Bool({2, 2}, {0, 7, 1, 1}))
                               .In(I64({1}, {1}))
                               .Set("keepdims", int64_t{0})
                               .Result());
  };
  EXPECT_THAT(reduce("ReduceMax"), ElementsAre(1, 1));
  EXPECT_THAT(reduce("ReduceMin"), ElementsAre(0, 1));
}

TEST(ReduceTest, NanWins) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const char* op : {"ReduceMax", "ReduceMin", "ReduceSum"}) {
    EXPECT_TRUE(std::isnan(
        OpTester(op, 13).In(F32({3}, {1, nan, 2})).Result().values<float>()[0]))
        << op;
  }
}

}  // namespace
}  // namespace reprise::cpu
