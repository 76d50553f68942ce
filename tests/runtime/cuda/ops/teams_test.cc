#include "runtime/cuda/ops/teams.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise::cuda {
namespace {

TEST(TeamsTest, ShortRowsAreWarpsFourToABlock) {
  const KernelLaunch launch = TeamLaunch("k", 9, 256, {});
  EXPECT_EQ(launch.block, (Dim3{32, 4, 1}));
  EXPECT_EQ(launch.grid, (Dim3{3, 1, 1}));
}

TEST(TeamsTest, LongerRowsHaveABlockEach) {
  EXPECT_EQ(TeamLaunch("k", 9, 257, {}).block, (Dim3{64, 1, 1}));
  EXPECT_EQ(TeamLaunch("k", 9, 1000, {}).block, (Dim3{128, 1, 1}));
  EXPECT_EQ(TeamLaunch("k", 9, 1'000'000, {}).block, (Dim3{256, 1, 1}));
  EXPECT_EQ(TeamLaunch("k", 9, 1'000'000, {}).grid, (Dim3{9, 1, 1}));
}

TEST(TeamsTest, NoRowsAreNoBlocks) {
  EXPECT_EQ(TeamLaunch("k", 0, 10, {}).grid.x, 0);
}

}  // namespace
}  // namespace reprise::cuda
