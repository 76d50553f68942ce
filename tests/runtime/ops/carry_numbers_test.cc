#include "runtime/ops/carry_numbers.h"

#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "tests/runtime/ops/ops_testing.h"

namespace reprise::ops {
namespace {

using ::testing::ElementsAre;
using testing::FloatTensor;
using testing::Int64Tensor;

TEST(CarryNumbersTest, IntegersStayExact) {
  const int64_t large = std::numeric_limits<int64_t>::max() - 1;
  const Numbers numbers = Load(Int64Tensor({1}, {large}));
  EXPECT_FALSE(numbers.real);
  const auto stored = Store(numbers, {DType::kInt64, {1}});
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ((*stored)[0].values<int64_t>()[0], large);
}

TEST(CarryNumbersTest, RealsAreCutOffAndClamped) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto stored = Store(Load(FloatTensor({4}, {-2.7F, 1e30F, -1e30F, nan})),
                            {DType::kInt64, {4}});
  ASSERT_TRUE(stored.ok()) << stored.status();
  const auto values = (*stored)[0].values<int64_t>();
  EXPECT_THAT(std::vector<int64_t>(values.begin(), values.end()),
              ElementsAre(-2, std::numeric_limits<int64_t>::max(),
                          std::numeric_limits<int64_t>::min(), 0));
}

TEST(CarryNumbersTest, BroadcastRepeatsAxesOfOne) {
  EXPECT_THAT(BroadcastIndex({2, 1}, {2, 3}), ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_THAT(Broadcast(Int64Tensor({2}, {5, 6}), {2, 2}).ints,
              ElementsAre(5, 6, 5, 6));
}

TEST(CarryNumbersTest, MoveTakesElementsByIndex) {
  const auto moved =
      Move(Int64Tensor({3}, {7, 8, 9}), {DType::kInt64, {2}}, {2, 0});
  ASSERT_TRUE(moved.ok()) << moved.status();
  EXPECT_EQ((*moved)[0].values<int64_t>()[0], 9);
  EXPECT_EQ((*moved)[0].values<int64_t>()[1], 7);
}

TEST(CarryNumbersTest, OnlyWhatShapesAreMadeOfIsCarried) {
  EXPECT_TRUE(Carried(DType::kInt64));
  EXPECT_TRUE(Carried(DType::kBool));
  EXPECT_FALSE(Carried(DType::kFp16));
  EXPECT_FALSE(Carried(DType::kString));
}

TEST(CarryNumbersTest, RealsAreClampedAndIntegersWrapInNarrowTypes) {
  const auto reals =
      Store(Load(FloatTensor({3}, {3e9F, -3e9F, -2.7F})), {DType::kInt32, {3}});
  ASSERT_TRUE(reals.ok()) << reals.status();
  const auto clamped = (*reals)[0].values<int32_t>();
  EXPECT_THAT(std::vector<int32_t>(clamped.begin(), clamped.end()),
              ElementsAre(std::numeric_limits<int32_t>::max(),
                          std::numeric_limits<int32_t>::min(), -2));
  const auto ints = Store(Load(Int64Tensor({1}, {(int64_t{1} << 32) + 5})),
                          {DType::kInt32, {1}});
  ASSERT_TRUE(ints.ok()) << ints.status();
  EXPECT_EQ((*ints)[0].values<int32_t>()[0], 5);
}

TEST(CarryNumbersTest, AnIntegerBecomesTheNearestFloat) {
  // By way of a double it would be rounded twice, down to 2^54.
  const auto stored = Store(
      Load(Int64Tensor({1}, {(int64_t{1} << 54) + (int64_t{1} << 30) + 1})),
      {DType::kFp32, {1}});
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ((*stored)[0].values<float>()[0], 0x1.000002p54F);
}

}  // namespace
}  // namespace reprise::ops
