#include "runtime/cpu/ops/window_walk.h"

#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise::cpu {
namespace {

using ::testing::ElementsAre;

// (tap, offset) of every tap on the input at position `out`.
using Tap = std::tuple<int64_t, int64_t>;
std::vector<Tap> Taps(const WindowWalk& walk, int64_t out) {
  std::vector<Tap> taps;
  ForEachTap(walk, out, [&](int64_t tap, int64_t offset) {
    taps.emplace_back(tap, offset);
  });
  return taps;
}

TEST(WindowWalkTest, CountsTapsAndElements) {
  ops::Window window;
  window.kernel = {2, 3};
  window.strides = {1, 1};
  window.dilations = {1, 1};
  window.pads_begin = {0, 0};
  window.pads_end = {0, 0};
  window.out = {3, 3};
  const WindowWalk walk = MakeWalk(window, std::vector<int64_t>{4, 5});
  EXPECT_EQ(walk.axes, 2);
  EXPECT_EQ(walk.taps, 6);
  EXPECT_EQ(walk.in_size, 20);
  EXPECT_EQ(walk.out_size, 9);
  // Row 1, column 2 of the output.
  EXPECT_THAT(Taps(walk, 5), ElementsAre(Tap(0, 7), Tap(1, 8), Tap(2, 9),
                                         Tap(3, 12), Tap(4, 13), Tap(5, 14)));
}

TEST(WindowWalkTest, StridesAndDilationsMoveTheTaps) {
  ops::Window window;
  window.kernel = {2};
  window.strides = {3};
  window.dilations = {2};
  window.pads_begin = {0};
  window.pads_end = {0};
  window.out = {2};
  const WindowWalk walk = MakeWalk(window, std::vector<int64_t>{6});
  EXPECT_THAT(Taps(walk, 0), ElementsAre(Tap(0, 0), Tap(1, 2)));
  EXPECT_THAT(Taps(walk, 1), ElementsAre(Tap(0, 3), Tap(1, 5)));
}

// What ceil_mode reaches beyond the pads is not counted as padding.
TEST(WindowWalkTest, TapsOutsideLieInThePadsOrBeyondThem) {
  ops::Window window;
  window.kernel = {3};
  window.strides = {2};
  window.dilations = {1};
  window.pads_begin = {1};
  window.pads_end = {1};
  window.out = {3};
  const WindowWalk walk = MakeWalk(window, std::vector<int64_t>{4});
  EXPECT_THAT(Taps(walk, 0), ElementsAre(Tap(1, 0), Tap(2, 1)));
  EXPECT_EQ(TapsWithinPads(walk, 0), 3);
  EXPECT_THAT(Taps(walk, 2), ElementsAre(Tap(0, 3)));
  EXPECT_EQ(TapsWithinPads(walk, 2), 2);
}

TEST(WindowWalkTest, WhatLiesOutsideCostsNothing) {
  constexpr int64_t kPad = int64_t{1} << 30;
  ops::Window window;
  window.kernel = {2 * kPad};
  window.strides = {1};
  window.dilations = {1};
  window.pads_begin = {kPad};
  window.pads_end = {kPad};
  window.out = {5};
  const WindowWalk walk = MakeWalk(window, std::vector<int64_t>{4});
  EXPECT_THAT(Taps(walk, 0), ElementsAre(Tap(kPad, 0), Tap(kPad + 1, 1),
                                         Tap(kPad + 2, 2), Tap(kPad + 3, 3)));
  EXPECT_EQ(TapsWithinPads(walk, 0), 2 * kPad);
}

}  // namespace
}  // namespace reprise::cpu
