#include "runtime/cuda/ops/walk.h"

#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/cuda/kernels/walk.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::StatusIs;
using ::testing::ElementsAre;

// Of operands of `dims`, broadcast to `out`.
kernels::Walk WalkOver(const Dims& out, const std::vector<Dims>& dims,
                       int pack) {
  std::vector<Dims> strides;
  for (const Dims& operand : dims) {
    strides.push_back(BroadcastStrides(operand, out));
  }
  return MakeWalk(out, strides, pack).value();
}

TEST(WalkTest, StridesOfABroadcastOperand) {
  EXPECT_THAT(BroadcastStrides(Dims{3, 1, 5}, Dims{2, 3, 4, 5}),
              ElementsAre(0, 5, 0, 1));
  EXPECT_THAT(BroadcastStrides(Dims{}, Dims{2, 3}), ElementsAre(0, 0));
}

TEST(WalkTest, DenseOperandsAreOneAxisOfPacks) {
  const kernels::Walk walk = WalkOver({2, 3, 5}, {{2, 3, 5}, {1}}, 4);
  EXPECT_EQ(walk.axes, 1);
  EXPECT_EQ(walk.pack, 4);
  EXPECT_EQ(walk.elements, 30);
  EXPECT_EQ(walk.count, 8);  // the last is cut off
  EXPECT_EQ(walk.dims[0], 8);
  EXPECT_EQ(walk.strides[0][0], 4);
  EXPECT_EQ(walk.strides[1][0], 0);
  EXPECT_EQ(walk.step[0], 1);
  EXPECT_EQ(walk.step[1], 0);
  EXPECT_EQ(walk.narrow, 1);
}

TEST(WalkTest, RowsOfWholePacksAreWalkedInPacksAndOthersAreNot) {
  EXPECT_EQ(WalkOver({3, 8}, {{3, 8}, {8}}, 4).count, 6);
  EXPECT_EQ(WalkOver({3, 6}, {{3, 6}, {6}}, 4).count, 18);
  EXPECT_EQ(WalkOver({3, 6}, {{3, 6}, {6}}, 4).pack, 1);
  // Turned over: neighbours do not lie together.
  const Dims strides[] = {{1, 8}};
  EXPECT_EQ(MakeWalk(Dims{8, 4}, strides, 4)->pack, 1);
  // Rows begin in the midst of a pack.
  const Dims cut[] = {{9, 1}};
  EXPECT_EQ(MakeWalk(Dims{2, 8}, cut, 4)->pack, 1);
}

TEST(WalkTest, LongTensorsAreWide) {
  constexpr int64_t kMany = int64_t{1} << 31;
  EXPECT_EQ(WalkOver({kMany}, {{kMany}}, 4).narrow, 0);
  EXPECT_EQ(WalkOver({kMany - 1}, {{kMany - 1}}, 4).narrow, 1);
  // The walk is short, but what it steps over is long.
  const Dims strides[] = {{kMany - 1, 1}};
  EXPECT_EQ(MakeWalk(Dims{3, 2}, strides, 1)->narrow, 0);
  const Dims back[] = {{-4}};
  EXPECT_EQ(MakeWalk(Dims{3}, back, 1)->narrow, 0);
}

// Follows a walk over [2, 3, 4] whose second axis goes by `stride`.
void FollowWalk(int64_t stride, int narrow) {
  const Dims strides[] = {{100, stride, 1}, {0, 7, 0}};
  const kernels::Walk walk = MakeWalk(Dims{2, 3, 4}, strides, 1).value();
  EXPECT_EQ(walk.narrow, narrow);
  for (int64_t i = 0; i < 24; ++i) {
    const kernels::Offsets<2> offsets = kernels::WalkTo<2>(walk, i);
    EXPECT_EQ(offsets.at[0], i / 12 * 100 + i / 4 % 3 * stride + i % 4);
    EXPECT_EQ(offsets.at[1], i / 4 % 3 * 7);
  }
}

TEST(WalkTest, TheDeviceFindsItsWayNarrowOrWide) {
  FollowWalk(10, 1);
  FollowWalk(-10, 0);
}

TEST(WalkTest, NothingIsWalkedInNoSteps) {
  EXPECT_EQ(WalkOver({3, 0}, {{3, 0}}, 4).count, 0);
  EXPECT_EQ(WalkOver({}, {{}}, 4).count, 1);
}

TEST(WalkTest, MoreThanAKernelHoldsIsRefused) {
  const Dims dims(9, 2);
  Dims strides;
  for (int64_t i = 0; i < 9; ++i) strides.push_back(1 + 3 * i);
  EXPECT_THAT(MakeWalk(dims, std::vector<Dims>{strides}, 1),
              StatusIs(absl::StatusCode::kUnimplemented));
  EXPECT_THAT(MakeWalk(Dims{2}, std::vector<Dims>(4, Dims{1}), 1),
              StatusIs(absl::StatusCode::kUnimplemented));
  EXPECT_EQ(MakeChainWalk(Dims{2}, std::vector<Dims>(4, Dims{1}), 1)->count, 2);
}

}  // namespace
}  // namespace reprise::cuda
