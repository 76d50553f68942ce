#include "runtime/cuda/kernels/functions.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise::kernels {
namespace {

TEST(FunctionsTest, IntegersWrap) {
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(Add::Apply(kMost, 1), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(Sub::Apply(std::numeric_limits<int32_t>::min(), 1), kMost);
  EXPECT_EQ(Mul::Apply(int64_t{1} << 62, int64_t{4}), 0);
  EXPECT_EQ(Neg::Apply(std::numeric_limits<int32_t>::min(), 0, 0),
            std::numeric_limits<int32_t>::min());
}

TEST(FunctionsTest, DivisionsWithoutAnAnswer) {
  constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(Div::Apply(7, 0), 0);
  EXPECT_EQ(Div::Apply(kLeast, -1), kLeast);
  EXPECT_EQ(FloorMod::Apply(7, 0), 0);
  EXPECT_EQ(FloorMod::Apply(kLeast, -1), 0);
  EXPECT_EQ(FloorMod::Apply(-7, 2), 1);
  EXPECT_EQ(CMod::Apply(-7, 2), -1);
  EXPECT_TRUE(std::isinf(Div::Apply(7.0F, 0.0F)));
}

TEST(FunctionsTest, NanStays) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(Max::Apply(1.0F, kNone)));
  EXPECT_TRUE(std::isnan(Min::Apply(kNone, 1.0F)));
  EXPECT_TRUE(std::isnan(Relu::Apply(kNone, 0.0F, 0.0F)));
  EXPECT_TRUE(std::isnan(Clipped(kNone, true, 0.0F, true, 1.0F)));
  EXPECT_TRUE(std::isnan(Gate(kNone, 1.0F, 0.0F)));
}

TEST(FunctionsTest, LargeArgumentsDoNotOverflow) {
  EXPECT_EQ(SoftplusOf(1000.0F), 1000);
  EXPECT_EQ(SoftplusOf(-1000.0F), 0);
  EXPECT_EQ(Sigmoid::Apply(-1000.0F, 0.0F, 0.0F), 0);
  EXPECT_EQ(GeluTanh::Apply(1000.0F, 0.0F, 0.0F), 1000);
}

TEST(FunctionsTest, ALowAboveTheHighGivesTheHigh) {
  EXPECT_EQ(Clipped(5, true, 4, true, 2), 2);
  EXPECT_EQ(Clipped(5, false, 9, false, 2), 5);
}

}  // namespace
}  // namespace reprise::kernels
