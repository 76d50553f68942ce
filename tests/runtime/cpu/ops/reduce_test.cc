#include <cmath>
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

TEST(ReduceTest, FindsTheFirstOrTheLast) {
  EXPECT_THAT(
      Values<int64_t>(OpTester("ArgMax", 13).In(F32({3}, {1, 5, 5})).Result()),
      ElementsAre(1));
  EXPECT_THAT(Values<int64_t>(OpTester("ArgMin", 13)
                                  .In(F32({3}, {1, 1, 5}))
                                  .Set("select_last_index", int64_t{1})
                                  .Result()),
              ElementsAre(1));
}

TEST(ReduceTest, SumsUp) {
  EXPECT_THAT(Values<float>(OpTester("CumSum", 14)
                                .In(F32({3}, {1, 2, 3}))
                                .In(I64({}, {0}))
                                .Set("reverse", int64_t{1})
                                .Set("exclusive", int64_t{1})
                                .Result()),
              ElementsAre(5, 3, 0));
}

}  // namespace
}  // namespace reprise::cpu
