#include <cmath>
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

TEST(LogicTest, ComparesAndCombines) {
  EXPECT_THAT(Values<uint8_t>(OpTester("Less", 13)
                                  .In(F32({3}, {1, 2, 3}))
                                  .In(F32({}, {2}))
                                  .Result()),
              ElementsAre(1, 0, 0));
  EXPECT_THAT(Values<uint8_t>(OpTester("GreaterOrEqual", 16)
                                  .In(I64({2}, {1, 2}))
                                  .In(I64({}, {2}))
                                  .Result()),
              ElementsAre(0, 1));
}

TEST(LogicTest, AnyByteButZeroIsTrue) {
  EXPECT_THAT(Values<uint8_t>(OpTester("And", 7)
                                  .In(Bool({3}, {2, 1, 0}))
                                  .In(Bool({3}, {1, 4, 7}))
                                  .Result()),
              ElementsAre(1, 1, 0));
  EXPECT_THAT(
      Values<uint8_t>(OpTester("Not", 1).In(Bool({2}, {0, 200})).Result()),
      ElementsAre(1, 0));
  EXPECT_THAT(Values<uint8_t>(OpTester("Equal", 13)
                                  .In(Bool({2}, {2, 0}))
                                  .In(Bool({2}, {1, 1}))
                                  .Result()),
              ElementsAre(1, 0));
  EXPECT_THAT(Values<uint8_t>(OpTester("Xor", 7)
                                  .In(Bool({2}, {2, 0}))
                                  .In(Bool({2}, {1, 1}))
                                  .Result()),
              ElementsAre(0, 1));
}

TEST(LogicTest, FoldsAnyNumberOfInputs) {
  EXPECT_THAT(Values<float>(OpTester("Mean", 13)
                                .In(F32({2}, {1, 2}))
                                .In(F32({2}, {3, 4}))
                                .In(F32({1}, {2}))
                                .Result()),
              ElementsAre(2, FloatNear(8.0F / 3, 1e-6F)));
  EXPECT_THAT(Values<float>(OpTester("Sum", 13).In(F32({2}, {1, 2})).Result()),
              ElementsAre(1, 2));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const HostTensor max = OpTester("Max", 13)
                             .In(F32({2}, {nan, 2}))
                             .In(F32({2}, {3, nan}))
                             .Result();
  EXPECT_TRUE(std::isnan(max.values<float>()[0]));
  EXPECT_TRUE(std::isnan(max.values<float>()[1]));
}

TEST(LogicTest, ShiftsBeyondTheWidthGiveZero) {
  OpTester shift("BitShift", 11);
  shift.In(TensorOf<uint8_t>(DType::kUint8, {3}, {1, 255, 16}))
      .In(TensorOf<uint8_t>(DType::kUint8, {3}, {3, 9, 4}))
      .Set("direction", std::string("LEFT"));
  EXPECT_THAT(Values<uint8_t>(shift.Result()), ElementsAre(8, 0, 0));
}

}  // namespace
}  // namespace reprise::cpu
