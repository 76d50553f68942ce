#include "runtime/tensor/float16.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace reprise {
namespace {

TEST(Float16Test, EveryHalfSurvivesTheWayToFloatAndBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = Half::ToFloat(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(Half::ToFloat(Half::FromFloat(value))));
    } else {
      EXPECT_EQ(Half::FromFloat(value), half) << bits;
    }
  }
}

TEST(Float16Test, HalvesHaveTheirValues) {
  EXPECT_EQ(Half::ToFloat(0x3c00), 1.0F);
  EXPECT_EQ(Half::ToFloat(0xc100), -2.5F);
  EXPECT_EQ(Half::ToFloat(0x0001), 0x1p-24F);
  EXPECT_EQ(Half::ToFloat(0x7bff), 65504.0F);
  EXPECT_TRUE(std::signbit(Half::ToFloat(0x8000)));
  EXPECT_EQ(Half::ToFloat(0xfc00), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(Half::ToFloat(0x7e01)));
}

TEST(Float16Test, HalfRoundsToNearestEven) {
  EXPECT_EQ(Half::FromFloat(1.0F + 0x1p-11F), 0x3c00);  // a tie, to even
  EXPECT_EQ(Half::FromFloat(1.0F + 0x1.8p-10F), 0x3c02);
  EXPECT_EQ(Half::FromFloat(65519.0F), 0x7bff);
  EXPECT_EQ(Half::FromFloat(65520.0F), 0x7c00);
  EXPECT_EQ(Half::FromFloat(-0x1p-24F), 0x8001);
  EXPECT_EQ(Half::FromFloat(0x1p-26F), 0x0000);
}

TEST(Float16Test, BFloat16KeepsTheExponent) {
  EXPECT_EQ(BFloat16::FromFloat(1.0F), 0x3f80);
  EXPECT_EQ(BFloat16::FromFloat(1.0F + 0x1p-8F), 0x3f80);  // a tie, to even
  EXPECT_EQ(BFloat16::FromFloat(1.0F + 0x1.8p-7F), 0x3f82);
  EXPECT_TRUE(std::isnan(BFloat16::ToFloat(
      BFloat16::FromFloat(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_TRUE(std::isinf(BFloat16::ToFloat(
      BFloat16::FromFloat(std::numeric_limits<float>::max()))));
}

}  // namespace
}  // namespace reprise
