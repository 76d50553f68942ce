#include "runtime/cuda/ops/move.h"

#include <variant>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise::cuda {
namespace {

KernelLaunch LaunchOf(const Move& move) {
  return std::get<KernelLaunch>(*MoveAction(move, 0, 1).value());
}

TEST(MoveTest, OneBlockOfBytesIsACopy) {
  const auto action = MoveAction({.dims = {2, 3},
                                  .from_strides = {3, 1},
                                  .to_strides = {3, 1},
                                  .from = 2,
                                  .to = 5,
                                  .element_bytes = 4},
                                 0, 1);
  const Copy copy = std::get<Copy>(*action.value());
  EXPECT_EQ(copy.from.offset, 8);
  EXPECT_EQ(copy.to.offset, 20);
  EXPECT_EQ(copy.bytes, 24);
}

TEST(MoveTest, RowsAreMovedByTheWidestElementsThatFit) {
  Move move{.dims = {5, 8},
            .from_strides = {16, 1},
            .to_strides = {8, 1},
            .element_bytes = 2};
  EXPECT_EQ(LaunchOf(move).entry, "reprise_move_b16");
  move.from = 4;  // bytes 8
  EXPECT_EQ(LaunchOf(move).entry, "reprise_move_b8");
  EXPECT_EQ(std::get<Place>(LaunchOf(move).arguments[0]).offset, 8);
  move.from_strides = {17, 1};
  EXPECT_EQ(LaunchOf(move).entry, "reprise_move_b2");
}

TEST(MoveTest, MatricesAreTurnedOverByTilesUnlessTheyAreSmall) {
  Move move{.dims = {3, 70, 40},
            .from_strides = {2800, 1, 70},
            .to_strides = {2800, 40, 1},
            .element_bytes = 4};
  const KernelLaunch launch = LaunchOf(move);
  EXPECT_EQ(launch.entry, "reprise_transpose_b4");
  EXPECT_EQ(launch.grid, (Dim3{6, 3, 1}));
  EXPECT_EQ(launch.block, (Dim3{32, 8, 1}));
  move = {.dims = {70, 4},
          .from_strides = {1, 70},
          .to_strides = {4, 1},
          .element_bytes = 4};
  EXPECT_EQ(LaunchOf(move).entry, "reprise_move_b4");
}

TEST(MoveTest, NoElementsAreNoAction) {
  EXPECT_FALSE(MoveAction({.dims = {0, 3},
                           .from_strides = {3, 1},
                           .to_strides = {3, 1},
                           .element_bytes = 4},
                          0, 1)
                   ->has_value());
}

}  // namespace
}  // namespace reprise::cuda
