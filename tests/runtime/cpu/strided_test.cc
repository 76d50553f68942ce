#include "runtime/cpu/strided.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise::cpu {
namespace {

using ::testing::ElementsAre;

TEST(StridedTest, MergesWhatIsWalkedInOneStride) {
  const Dims dims{2, 1, 3, 4};
  const Dims strides[] = {Strides(dims), Strides(dims)};
  const StridedLoop loop = MakeLoop(dims, strides);
  EXPECT_EQ(loop.axes, 1);
  EXPECT_EQ(loop.inner(), 24);
  EXPECT_EQ(loop.inner_stride(1), 1);
}

TEST(StridedTest, KeepsAxesThatAnOperandWalksOtherwise) {
  const Dims dims{2, 3};
  const Dims strides[] = {Strides(dims), Dims{1, 2}};
  const StridedLoop loop = MakeLoop(dims, strides);
  EXPECT_EQ(loop.axes, 2);
  const std::vector<int> from = {1, 2, 3, 4, 5, 6};
  std::vector<int> to(6);
  CopyStrided(loop, from.data(), to.data());
  EXPECT_THAT(to, ElementsAre(1, 3, 5, 2, 4, 6));
}

TEST(StridedTest, AScalarIsOneElementAndAnEmptyTensorNone) {
  int runs = 0;
  const Dims scalar[] = {Dims{}, Dims{}};
  ForEachRow(MakeLoop(Dims{}, scalar), [&](const auto&) { ++runs; });
  EXPECT_EQ(runs, 1);
  const Dims empty{2, 0};
  const Dims strides[] = {Strides(empty), Strides(empty)};
  ForEachRow(MakeLoop(empty, strides), [&](const auto&) { ++runs; });
  EXPECT_EQ(runs, 1);
}

TEST(StridedTest, BroadcastAxesHaveNoStride) {
  EXPECT_EQ(BroadcastStrides(Dims{3, 1}, Dims{2, 3, 4}), (Dims{0, 1, 0}));
}

}  // namespace
}  // namespace reprise::cpu
