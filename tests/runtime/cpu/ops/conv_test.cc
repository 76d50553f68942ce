#include <vector>

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

TEST(ConvTest, SumsUnderTheWindow) {
  EXPECT_THAT(Values<float>(OpTester("Conv", 11)
                                .In(F32({1, 1, 4}, {1, 2, 3, 4}))
                                .In(F32({1, 1, 2}, {1, 10}))
                                .In(F32({1}, {0.5F}))
                                .Set("pads", std::vector<int64_t>{1, 0})
                                .Result()),
              ElementsAre(10.5F, 21.5F, 32.5F, 43.5F));
}

TEST(ConvTest, GroupsStridesAndDilations) {
  EXPECT_THAT(Values<float>(OpTester("Conv", 11)
                                .In(F32({1, 2, 3}, {1, 2, 3, 4, 5, 6}))
                                .In(F32({2, 1, 2}, {1, 1, 1, -1}))
                                .Set("group", int64_t{2})
                                .Set("dilations", std::vector<int64_t>{2})
                                .Result()),
              ElementsAre(4, -2));
}

TEST(ConvTest, AppliesTheFusedActivation) {
  EXPECT_THAT(Values<float>(OpTester("Conv", 11)
                                .In(F32({1, 1, 2}, {-1, 2}))
                                .In(F32({1, 1, 1}, {1}))
                                .Set("activation", std::string("Relu"))
                                .Result()),
              ElementsAre(0, 2));
}

}  // namespace
}  // namespace reprise::cpu
