// Resize and its older name Upsample.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/ops/node_view.h"
#include "runtime/ops/op.h"

namespace reprise::ops {

enum class ResizeMode { kNearest, kLinear, kCubic };

// Where a position of the output lies in the input.
enum class ResizeCoordinates {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfHalfPixelForNn,
  kTfCropAndResize,
};

enum class NearestMode { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };

// One axis. `width` is in * scale, which may lie a fraction above `out`; the
// region of interest is [begin, end] in units of the axis.
struct ResizeAxis {
  int64_t in = 1;
  int64_t out = 1;
  double scale = 1;
  double width = 1;
  double begin = 0;
  double end = 1;

  // Every element stays where it is, in every mode.
  bool Keeps() const;
};

// One entry of `axes` per axis of the input. What a node leaves out, and what
// its opset does not know yet, has its default here.
struct ResizeParams {
  ResizeMode mode = ResizeMode::kNearest;
  ResizeCoordinates coordinates = ResizeCoordinates::kHalfPixel;
  NearestMode nearest = NearestMode::kRoundPreferFloor;
  bool antialias = false;
  bool exclude_outside = false;
  double cubic_a = -0.75;
  double extrapolation = 0;  // kTfCropAndResize, outside of the input
  std::vector<ResizeAxis> axes;
};

// Upsample, and Resize below opset 11, are asymmetric and take the floor. Roi,
// scales and sizes of no elements count as absent. Sizes that are fixed by
// scales are the floor of the product in FP32, as ONNX's shape inference has
// it. UNIMPLEMENTED if scales or sizes are not known before the graph runs.
absl::StatusOr<ResizeParams> ReadResize(const NodeView& view);

// The family's rows of the table.
std::span<const Op> ResizeOps();

}  // namespace reprise::ops
