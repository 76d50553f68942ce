#include "runtime/ops/resize_taps.h"

#include <cstdint>
#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace reprise::ops {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using testing::StatusIs;

ResizeAxis Axis(int64_t in, double scale) {
  ResizeAxis axis{.in = in, .scale = scale};
  axis.width = static_cast<double>(in) * scale;
  axis.out = static_cast<int64_t>(axis.width);
  return axis;
}

ResizeParams Params(ResizeMode mode, ResizeCoordinates coordinates) {
  ResizeParams params;
  params.mode = mode;
  params.coordinates = coordinates;
  return params;
}

std::vector<int64_t> NearestOf(ResizeCoordinates coordinates, NearestMode mode,
                               const ResizeAxis& axis) {
  ResizeParams params = Params(ResizeMode::kNearest, coordinates);
  params.nearest = mode;
  return MakeResizeTaps(params, axis)->indices;
}

TEST(ResizeTapsTest, NearestAsymmetricFloorAsDetectorsUseIt) {
  const auto floor = [](double scale) {
    return NearestOf(ResizeCoordinates::kAsymmetric, NearestMode::kFloor,
                     Axis(4, scale));
  };
  EXPECT_THAT(floor(2), ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
  EXPECT_THAT(floor(3), ElementsAre(0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3));
  EXPECT_THAT(floor(1.5), ElementsAre(0, 0, 1, 2, 2, 3));
  EXPECT_THAT(floor(0.5), ElementsAre(0, 2));
}

TEST(ResizeTapsTest, NearestModesRoundTheirWay) {
  // Positions 0, 0.5, 1, 1.5.
  const auto nearest = [](NearestMode mode) {
    return NearestOf(ResizeCoordinates::kAsymmetric, mode, Axis(2, 2));
  };
  EXPECT_THAT(nearest(NearestMode::kRoundPreferFloor), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(nearest(NearestMode::kRoundPreferCeil), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(nearest(NearestMode::kFloor), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(nearest(NearestMode::kCeil), ElementsAre(0, 1, 1, 1));
}

TEST(ResizeTapsTest, EachCoordinateModeHasItsPosition) {
  const ResizeAxis axis = Axis(4, 2);  // 8 out
  const auto at = [&](ResizeCoordinates coordinates, int64_t o) {
    return ResizePosition(Params(ResizeMode::kLinear, coordinates), axis, o);
  };
  EXPECT_EQ(at(ResizeCoordinates::kHalfPixel, 3), 1.25);
  EXPECT_EQ(at(ResizeCoordinates::kHalfPixelSymmetric, 3), 1.25);
  EXPECT_EQ(at(ResizeCoordinates::kPytorchHalfPixel, 3), 1.25);
  EXPECT_EQ(at(ResizeCoordinates::kAsymmetric, 3), 1.5);
  EXPECT_EQ(at(ResizeCoordinates::kTfHalfPixelForNn, 3), 1.75);
  EXPECT_EQ(at(ResizeCoordinates::kAlignCorners, 7), 3);
  EXPECT_NE(at(ResizeCoordinates::kAlignCorners, 3),
            at(ResizeCoordinates::kAsymmetric, 3));
  EXPECT_EQ(at(ResizeCoordinates::kTfCropAndResize, 7), 3);
}

TEST(ResizeTapsTest, AnOutputOfOneElementDividesByNothing) {
  const ResizeAxis one = Axis(4, 0.25);
  ASSERT_EQ(one.out, 1);
  const auto at = [&](ResizeCoordinates coordinates) {
    return ResizePosition(Params(ResizeMode::kLinear, coordinates), one, 0);
  };
  EXPECT_EQ(at(ResizeCoordinates::kAlignCorners), 0);
  EXPECT_EQ(at(ResizeCoordinates::kPytorchHalfPixel), 0);
  EXPECT_EQ(at(ResizeCoordinates::kHalfPixel), 1.5);
  EXPECT_EQ(at(ResizeCoordinates::kTfCropAndResize), 1.5);
}

TEST(ResizeTapsTest, SymmetricPixelsKeepTheCenter) {
  // 2.6 elements wide, of which 2 are made: the rest is cut on both sides.
  ResizeAxis axis = Axis(4, 0.65);
  ASSERT_EQ(axis.out, 2);
  const ResizeParams params =
      Params(ResizeMode::kLinear, ResizeCoordinates::kHalfPixelSymmetric);
  EXPECT_NEAR(ResizePosition(params, axis, 0) + ResizePosition(params, axis, 1),
              3, 1e-12);
}

TEST(ResizeTapsTest, LinearWeighsTheTwoNeighbours) {
  const auto taps = MakeResizeTaps(
      Params(ResizeMode::kLinear, ResizeCoordinates::kHalfPixel), Axis(2, 2));
  ASSERT_TRUE(taps.ok()) << taps.status();
  EXPECT_EQ(taps->taps, 2);
  EXPECT_THAT(taps->indices, ElementsAre(0, 0, 0, 1, 0, 1, 1, 1));
  EXPECT_THAT(taps->weights,
              ElementsAre(0.25, 0.75, 0.75, 0.25, 0.25, 0.75, 0.75, 0.25));
}

TEST(ResizeTapsTest, CubicWeightsFollowTheCoefficient) {
  ResizeParams params =
      Params(ResizeMode::kCubic, ResizeCoordinates::kAsymmetric);
  const auto weights = [&] {
    const auto taps = MakeResizeTaps(params, Axis(8, 2));
    return std::vector<double>(taps->weights.begin() + 28,
                               taps->weights.begin() + 32);
  };
  // Element 7 lies half-way between 3 and 4.
  EXPECT_THAT(
      weights(),
      ElementsAre(DoubleNear(-0.09375, 1e-12), DoubleNear(0.59375, 1e-12),
                  DoubleNear(0.59375, 1e-12), DoubleNear(-0.09375, 1e-12)));
  params.cubic_a = -0.5;
  EXPECT_THAT(
      weights(),
      ElementsAre(DoubleNear(-0.0625, 1e-12), DoubleNear(0.5625, 1e-12),
                  DoubleNear(0.5625, 1e-12), DoubleNear(-0.0625, 1e-12)));
}

TEST(ResizeTapsTest, WhatLiesOutsideMayHaveNoWeight) {
  ResizeParams params =
      Params(ResizeMode::kCubic, ResizeCoordinates::kHalfPixel);
  params.exclude_outside = true;
  const auto taps = MakeResizeTaps(params, Axis(4, 2));
  ASSERT_TRUE(taps.ok()) << taps.status();
  EXPECT_EQ(taps->weights[0], 0);
  EXPECT_EQ(taps->weights[1], 0);
  EXPECT_NEAR(taps->weights[2] + taps->weights[3], 1, 1e-12);
}

TEST(ResizeTapsTest, AntialiasingCoversWhatIsSkipped) {
  ResizeParams params =
      Params(ResizeMode::kLinear, ResizeCoordinates::kHalfPixel);
  params.antialias = true;
  const auto taps = MakeResizeTaps(params, Axis(8, 0.25));
  ASSERT_TRUE(taps.ok()) << taps.status();
  EXPECT_EQ(taps->taps, 8);
  for (int64_t o = 0; o < 2; ++o) {
    const auto first = taps->weights.begin() + o * taps->taps;
    EXPECT_NEAR(std::accumulate(first, first + taps->taps, 0.0), 1, 1e-12);
  }
  // Nothing changes where nothing shrinks.
  EXPECT_EQ(MakeResizeTaps(params, Axis(8, 2))->taps, 2);
}

TEST(ResizeTapsTest, OutsideOfTheInputACropHasNoTaps) {
  ResizeAxis axis = Axis(4, 1);
  axis.begin = -0.5;
  axis.end = 1;
  const auto taps = MakeResizeTaps(
      Params(ResizeMode::kNearest, ResizeCoordinates::kTfCropAndResize), axis);
  ASSERT_TRUE(taps.ok()) << taps.status();
  EXPECT_THAT(taps->indices, ElementsAre(ResizeTaps::kOutside, 0, 1, 3));
}

TEST(ResizeTapsTest, HugeTablesAreRefused) {
  EXPECT_THAT(
      MakeResizeTaps(Params(ResizeMode::kLinear, ResizeCoordinates::kHalfPixel),
                     Axis(1 << 20, 1 << 20)),
      StatusIs(absl::StatusCode::kResourceExhausted));
}

}  // namespace
}  // namespace reprise::ops
