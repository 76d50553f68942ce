#include "runtime/cuda/kernels/elements.h"

#include <cstdint>
#include <cstring>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/tensor/float16.h"

namespace reprise::kernels {
namespace {

template <typename T>
uint16_t BitsOf(T value) {
  uint16_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

TEST(ElementsTest, NarrowFloatsRoundAsTheRuntimesDo) {
  for (const float value :
       {0.0F, -0.0F, 1.0F, 1.0F / 3, -65504.0F, 65519.0F, 65520.0F, 1e-7F,
        3e-8F, 1e30F, std::numeric_limits<float>::infinity()}) {
    EXPECT_EQ(BitsOf(Convert<Half>(value)), reprise::Half(value).bits) << value;
    EXPECT_EQ(BitsOf(Convert<BFloat16>(value)), reprise::BFloat16(value).bits)
        << value;
    EXPECT_EQ(Load(Convert<Half>(value)),
              static_cast<float>(reprise::Half(value)));
  }
}

TEST(ElementsTest, FloatsAreClampedToAnIntegersRange) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(Convert<int8_t>(300.0F), 127);
  EXPECT_EQ(Convert<int8_t>(-300.0F), -128);
  EXPECT_EQ(Convert<uint8_t>(-1.0F), 0);
  EXPECT_EQ(Convert<int32_t>(2147483648.0F), 2147483647);
  EXPECT_EQ(Convert<int64_t>(1e30), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Convert<int64_t>(kNan), 0);
  EXPECT_EQ(Convert<int32_t>(-2.9F), -2);
}

TEST(ElementsTest, IntegersAreCutOff) {
  EXPECT_EQ(Convert<int8_t>(int32_t{300}), 44);
  EXPECT_EQ(Convert<uint8_t>(int64_t{-1}), 255);
  EXPECT_EQ(Convert<int32_t>(int64_t{1} << 32), 0);
}

TEST(ElementsTest, AnyByteButZeroIsTrue) {
  EXPECT_EQ(Load(Bool{7}), 1);
  EXPECT_EQ(Convert<float>(Bool{2}), 1.0F);
  EXPECT_EQ(Convert<Bool>(0.5F).byte, 1);
  EXPECT_EQ(Convert<Bool>(int64_t{0}).byte, 0);
  EXPECT_EQ(Convert<Bool>(Bool{9}).byte, 9);
}

TEST(ElementsTest, APackIsItsElementsOrOneForAll) {
  alignas(16) const float from[] = {1, 2, 3, 4};
  alignas(16) float to[4] = {};
  StorePack(LoadPack<4>(from, 1), to);
  EXPECT_EQ(to[3], 4);
  StorePack(LoadPack<4>(from + 1, 0), to);
  EXPECT_EQ(to[0], 2);
  EXPECT_EQ(to[3], 2);
  static_assert(alignof(Pack<double, 4>) == 16);
  static_assert(alignof(Pack<Bool, 4>) == 4);
}

}  // namespace
}  // namespace reprise::kernels
