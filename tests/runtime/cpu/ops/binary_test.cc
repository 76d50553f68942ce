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

TEST(BinaryTest, BroadcastsBothSides) {
  EXPECT_THAT(Values<float>(OpTester("Add", 14)
                                .In(F32({2, 1}, {10, 20}))
                                .In(F32({3}, {1, 2, 3}))
                                .Result()),
              ElementsAre(11, 12, 13, 21, 22, 23));
  EXPECT_THAT(
      Values<float>(
          OpTester("Sub", 14).In(F32({}, {10})).In(F32({2}, {1, 2})).Result()),
      ElementsAre(9, 8));
  EXPECT_EQ(OpTester("Mul", 14)
                .In(F32({0, 2}, {}))
                .In(F32({1}, {1}))
                .Result()
                .elements(),
            0);
}

TEST(BinaryTest, IntegersWrapAndNeverTrap) {
  const int32_t least = std::numeric_limits<int32_t>::min();
  EXPECT_THAT(Values<int32_t>(OpTester("Div", 14)
                                  .In(I32({4}, {7, -7, 7, least}))
                                  .In(I32({4}, {2, 2, 0, -1}))
                                  .Result()),
              ElementsAre(3, -3, 0, least));
  EXPECT_THAT(Values<int32_t>(OpTester("Add", 14)
                                  .In(I32({1}, {least}))
                                  .In(I32({1}, {-1}))
                                  .Result()),
              ElementsAre(std::numeric_limits<int32_t>::max()));
}

TEST(BinaryTest, NarrowIntegersWrapInTheirOwnWidth) {
  const auto compute = [](const char* op, int8_t a, int8_t b) {
    return Values<int8_t>(OpTester(op, 14)
                              .In(TensorOf<int8_t>(DType::kInt8, {1}, {a}))
                              .In(TensorOf<int8_t>(DType::kInt8, {1}, {b}))
                              .Result())[0];
  };
  EXPECT_EQ(compute("Add", 127, 1), -128);
  EXPECT_EQ(compute("Mul", 100, 100), static_cast<int8_t>(10000));
  EXPECT_EQ(compute("Div", -128, -1), -128);
  EXPECT_EQ(compute("Sub", -128, 1), 127);
  EXPECT_THAT(
      Values<uint8_t>(OpTester("Sub", 14)
                          .In(TensorOf<uint8_t>(DType::kUint8, {1}, {3}))
                          .In(TensorOf<uint8_t>(DType::kUint8, {1}, {5}))
                          .Result()),
      ElementsAre(254));
}

TEST(BinaryTest, ModTakesTheSignThatItIsAskedFor) {
  EXPECT_THAT(Values<int64_t>(OpTester("Mod", 13)
                                  .In(I64({3}, {-7, 7, 5}))
                                  .In(I64({3}, {3, -3, 0}))
                                  .Result()),
              ElementsAre(2, -2, 0));
  EXPECT_THAT(Values<int64_t>(OpTester("Mod", 13)
                                  .In(I64({2}, {-7, 7}))
                                  .In(I64({2}, {3, -3}))
                                  .Set("fmod", int64_t{1})
                                  .Result()),
              ElementsAre(-1, 1));
}

TEST(BinaryTest, PowTakesAnExponentOfAnotherType) {
  EXPECT_THAT(Values<float>(OpTester("Pow", 15)
                                .In(F32({3}, {2, 3, -4}))
                                .In(I64({1}, {2}))
                                .Result()),
              ElementsAre(4, 9, 16));
  EXPECT_THAT(Values<int64_t>(OpTester("Pow", 15)
                                  .In(I64({2}, {2, 3}))
                                  .In(I64({2}, {10, 3}))
                                  .Result()),
              ElementsAre(1024, 27));
}

TEST(BinaryTest, PReluScalesWhatIsNegative) {
  EXPECT_THAT(Values<float>(OpTester("PRelu", 16)
                                .In(F32({2, 2}, {-1, 2, -3, 4}))
                                .In(F32({2}, {0.5F, 0.1F}))
                                .Result()),
              ElementsAre(-0.5F, 2, -1.5F, 4));
}

}  // namespace
}  // namespace reprise::cpu
