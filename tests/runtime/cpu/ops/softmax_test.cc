#include <cmath>

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

TEST(SoftmaxTest, FlattensBelowOpset13) {
  const HostTensor x = F32({2, 3, 4}, std::vector<float>(24, 1));
  EXPECT_NEAR(OpTester("Softmax", 11)
                  .In(F32({2, 3, 4}, std::vector<float>(24, 1)))
                  .Result()
                  .values<float>()[0],
              1.0 / 12, 1e-6);
  EXPECT_NEAR(OpTester("Softmax", 13)
                  .In(F32({2, 3, 4}, std::vector<float>(24, 1)))
                  .Result()
                  .values<float>()[0],
              1.0 / 4, 1e-6);
}

TEST(SoftmaxTest, LargeValuesDoNotOverflow) {
  EXPECT_THAT(
      Values<float>(OpTester("Softmax", 13).In(F32({2}, {1000, 0})).Result()),
      ElementsAre(1, 0));
  EXPECT_NEAR(OpTester("LogSoftmax", 13)
                  .In(F32({2}, {1000, 1000}))
                  .Result()
                  .values<float>()[0],
              -std::log(2), 1e-6);
}

TEST(SoftmaxTest, HardmaxPicksTheFirst) {
  EXPECT_THAT(
      Values<float>(OpTester("Hardmax", 13).In(F32({3}, {1, 2, 2})).Result()),
      ElementsAre(0, 1, 0));
}

}  // namespace
}  // namespace reprise::cpu
