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

TEST(GenerateTest, MakesRangesAndFills) {
  EXPECT_THAT(Values<float>(OpTester("Range", 11)
                                .In(F32({}, {1}))
                                .In(F32({}, {3}))
                                .In(F32({}, {0.5F}))
                                .Result()),
              ElementsAre(1, 1.5F, 2, 2.5F));
  EXPECT_THAT(Values<float>(
                  OpTester("ConstantOfShape", 9).In(I64({2}, {1, 2})).Result()),
              ElementsAre(0, 0));
}

TEST(GenerateTest, ShapeTakesAPart) {
  EXPECT_THAT(Values<int64_t>(OpTester("Shape", 15)
                                  .In(F32({2, 3, 4}, std::vector<float>(24)))
                                  .Set("start", int64_t{-2})
                                  .Result()),
              ElementsAre(3, 4));
  EXPECT_THAT(
      Values<int64_t>(
          OpTester("Size", 13).In(F32({2, 3}, std::vector<float>(6))).Result()),
      ElementsAre(6));
}

TEST(GenerateTest, ShapeIsWholeBelowOpset15) {
  EXPECT_THAT(Values<int64_t>(OpTester("Shape", 14)
                                  .In(F32({2, 3}, std::vector<float>(6)))
                                  .Set("start", int64_t{1})
                                  .Result()),
              ElementsAre(2, 3));
}

}  // namespace
}  // namespace reprise::cpu
