#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/tensor/float16.h"
#include "tests/runtime/cpu/ops/op_tester.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The values and their places.
template <typename T>
std::pair<std::vector<T>, std::vector<int64_t>> TopK(HostTensor x, int64_t k,
                                                     bool largest = true,
                                                     int64_t axis = -1) {
  OpTester tester("TopK", 11);
  tester.In(std::move(x)).In(I64({1}, {k})).Outputs(2);
  tester.Set("largest", int64_t{largest ? 1 : 0}).Set("axis", axis);
  auto outputs = tester.Evaluate();
  EXPECT_THAT(outputs, IsOk());
  if (!outputs.ok()) return {};
  return {Values<T>((*outputs)[0]), Values<int64_t>((*outputs)[1])};
}

TEST(TopKTest, TakesTheLargestOrTheSmallest) {
  const auto [values, indices] =
      TopK<float>(F32({2, 4}, {1, 4, 3, 2, -5, 0, 7, 6}), 2);
  EXPECT_THAT(values, ElementsAre(4, 3, 7, 6));
  EXPECT_THAT(indices, ElementsAre(1, 2, 2, 3));
  const auto smallest = TopK<float>(F32({4}, {1, 4, -3, 2}), 3, false);
  EXPECT_THAT(smallest.first, ElementsAre(-3, 1, 2));
  EXPECT_THAT(smallest.second, ElementsAre(2, 0, 3));
}

TEST(TopKTest, SortsAlongAnyAxis) {
  const auto [values, indices] =
      TopK<float>(F32({3, 2}, {1, 9, 5, 2, 3, 4}), 2, true, 0);
  EXPECT_THAT(values, ElementsAre(5, 9, 3, 4));
  EXPECT_THAT(indices, ElementsAre(1, 0, 2, 2));
}

TEST(TopKTest, EqualElementsKeepTheirOrder) {
  const auto largest = TopK<float>(F32({4}, {2, 0.0F, 2, -0.0F}), 4);
  EXPECT_THAT(largest.second, ElementsAre(0, 2, 1, 3));
  EXPECT_TRUE(std::signbit(largest.first[3]));
  EXPECT_THAT(TopK<int64_t>(I64({3}, {7, 7, 7}), 2, false).second,
              ElementsAre(0, 1));
}

TEST(TopKTest, NanIsLargerThanEveryNumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_THAT(TopK<float>(F32({4}, {-inf, nan, inf, -nan}), 4).second,
              ElementsAre(1, 3, 2, 0));
  EXPECT_THAT(TopK<float>(F32({3}, {nan, 1, -inf}), 2, false).second,
              ElementsAre(2, 1));
}

TEST(TopKTest, EveryKindOfNumberHasItsOrder) {
  const uint64_t most = std::numeric_limits<uint64_t>::max();
  EXPECT_THAT(
      TopK<uint64_t>(
          TensorOf<uint64_t>(DType::kUint64, {3}, {1, most, most - 1}), 2)
          .first,
      ElementsAre(most, most - 1));
  const int64_t least = std::numeric_limits<int64_t>::min();
  EXPECT_THAT(TopK<int64_t>(I64({3}, {1, least, -1}), 3).first,
              ElementsAre(1, -1, least));
  EXPECT_THAT(TopK<int8_t>(TensorOf<int8_t>(DType::kInt8, {3}, {-128, 127, 0}),
                           2, false)
                  .second,
              ElementsAre(0, 2));
  EXPECT_THAT(
      TopK<Half>(
          TensorOf<Half>(DType::kFp16, {3}, {Half(1), Half(-2), Half(3)}), 3)
          .second,
      ElementsAre(2, 0, 1));
}

TEST(TopKTest, NoneIsAnAnswer) {
  EXPECT_THAT(TopK<float>(F32({3}, {1, 2, 3}), 0).first, IsEmpty());
}

TEST(TopKTest, LongAxesGoThroughInChunks) {
  std::vector<float> x;
  for (int i = 0; i < 1000; ++i) x.push_back(static_cast<float>(i * 7 % 1000));
  const auto [values, indices] = TopK<float>(F32({1000}, x), 3);
  EXPECT_THAT(values, ElementsAre(999, 998, 997));
  EXPECT_THAT(indices, ElementsAre(857, 714, 571));
}

TEST(TopKTest, RunsAsAStepOfAProgram) {
  OpTester tester("TopK", 11);
  tester.In(F32({2, 3}, {1, 3, 2, 9, 7, 8})).In(I64({1}, {2})).Outputs(2);
  tester.ExpectPlain();
}

}  // namespace
}  // namespace reprise::cpu
