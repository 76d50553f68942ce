#include <string>

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

HostTensor Padded(const std::string& mode) {
  return OpTester("Pad", 19)
      .In(F32({3}, {1, 2, 3}))
      .In(I64({2}, {2, 1}))
      .Set("mode", mode)
      .Result();
}

TEST(PadTest, FillsByEachMode) {
  EXPECT_THAT(Values<float>(Padded("constant")), ElementsAre(0, 0, 1, 2, 3, 0));
  EXPECT_THAT(Values<float>(Padded("edge")), ElementsAre(1, 1, 1, 2, 3, 3));
  EXPECT_THAT(Values<float>(Padded("reflect")), ElementsAre(3, 2, 1, 2, 3, 2));
  EXPECT_THAT(Values<float>(Padded("wrap")), ElementsAre(2, 3, 1, 2, 3, 1));
}

TEST(PadTest, CropsByNegativePadsAndTakesAValue) {
  EXPECT_THAT(Values<float>(OpTester("Pad", 13)
                                .In(F32({2, 2}, {1, 2, 3, 4}))
                                .In(I64({4}, {0, -1, 0, 1}))
                                .In(F32({}, {7}))
                                .Result()),
              ElementsAre(2, 7, 4, 7));
}

TEST(PadTest, TheValueMayBeComputed) {
  OpTester tester("Pad", 13);
  tester.In(I32({2}, {1, 2})).In(I64({2}, {1, 1})).In(I32({1}, {-7}));
  EXPECT_THAT(Values<int32_t>(tester.Result()), ElementsAre(-7, 1, 2, -7));
  tester.ExpectPlain({0, 2});
}

TEST(PadTest, BoolsAndWholeRowsArePadded) {
  EXPECT_THAT(Values<uint8_t>(OpTester("Pad", 13)
                                  .In(Bool({1, 2}, {1, 0}))
                                  .In(I64({4}, {1, 0, 0, 0}))
                                  .In(Bool({}, {1}))
                                  .Result()),
              ElementsAre(1, 1, 1, 0));
}

}  // namespace
}  // namespace reprise::cpu
