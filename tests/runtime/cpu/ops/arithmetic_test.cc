#include "runtime/cpu/ops/arithmetic.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace reprise::cpu {
namespace {

template <typename T>
constexpr T kMin = std::numeric_limits<T>::min();
template <typename T>
constexpr T kMax = std::numeric_limits<T>::max();

template <typename T>
void ExpectWraps() {
  EXPECT_EQ(AddFn()(kMax<T>, T{1}), kMin<T>);
  EXPECT_EQ(SubFn()(kMin<T>, T{1}), kMax<T>);
  EXPECT_EQ(MulFn()(kMax<T>, T{2}), static_cast<T>(-2));
}

TEST(ArithmeticTest, IntegersWrapAround) {
  ExpectWraps<int8_t>();
  ExpectWraps<int16_t>();
  ExpectWraps<int32_t>();
  ExpectWraps<int64_t>();
  ExpectWraps<uint8_t>();
  ExpectWraps<uint16_t>();
  ExpectWraps<uint32_t>();
  ExpectWraps<uint64_t>();
}

TEST(ArithmeticTest, FloatsAreTheProcessors) {
  EXPECT_EQ(AddFn()(1.5F, 2.0F), 3.5F);
  EXPECT_EQ(SubFn()(1.5, 2.0), -0.5);
  EXPECT_EQ(MulFn()(kMax<float>, 2.0F), HUGE_VALF);
}

TEST(ArithmeticTest, NanIsTheLargestAndTheSmallest) {
  const float nan = std::nanf("");
  EXPECT_TRUE(std::isnan(MaxFn()(nan, 1.0F)));
  EXPECT_TRUE(std::isnan(MaxFn()(1.0F, nan)));
  EXPECT_TRUE(std::isnan(MinFn()(nan, 1.0F)));
  EXPECT_TRUE(std::isnan(MinFn()(1.0F, nan)));
  EXPECT_EQ(MaxFn()(1.0F, 2.0F), 2.0F);
  EXPECT_EQ(MinFn()(int8_t{-1}, int8_t{1}), -1);
}

}  // namespace
}  // namespace reprise::cpu
