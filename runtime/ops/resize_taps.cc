#include "runtime/ops/resize_taps.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace reprise::ops {
namespace {

constexpr int64_t kMaxEntries = int64_t{1} << 26;

int64_t Nearest(NearestMode mode, double at) {
  switch (mode) {
    case NearestMode::kRoundPreferFloor:
      return static_cast<int64_t>(std::ceil(at - 0.5));
    case NearestMode::kRoundPreferCeil:
      return static_cast<int64_t>(std::floor(at + 0.5));
    case NearestMode::kFloor:
      return static_cast<int64_t>(std::floor(at));
    case NearestMode::kCeil:
      break;
  }
  return static_cast<int64_t>(std::ceil(at));
}

double Linear(double distance) { return std::max(0.0, 1 - std::abs(distance)); }

double Cubic(double distance, double a) {
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

// A kernel is `half` elements wide on each side, at a stretch of 1. It is
// stretched to cover what falls between two outputs when it antialiases.
struct Filter {
  int64_t half = 1;
  double stretch = 1;  // at most 1: distances are multiplied by it

  // Taps lie from `first` elements after the one left of the position on.
  int64_t first() const {
    return static_cast<int64_t>(
               std::floor(-static_cast<double>(half) / stretch)) +
           1;
  }
  int64_t taps() const { return 2 - 2 * first(); }
};

Filter FilterOf(const ResizeParams& params, const ResizeAxis& axis) {
  Filter filter;
  if (params.mode == ResizeMode::kCubic) filter.half = 2;
  if (params.antialias) filter.stretch = std::min(axis.scale, 1.0);
  return filter;
}

// Weights that add up to 1. If nothing inside has any, the nearest tap has all.
void Normalize(double* weights, int64_t n, int64_t nearest) {
  double sum = 0;
  for (int64_t t = 0; t < n; ++t) sum += weights[t];
  if (sum < 0 || sum > 0) {
    for (int64_t t = 0; t < n; ++t) weights[t] /= sum;
  } else {
    weights[nearest] = 1;
  }
}

void FillTaps(const ResizeParams& params, const ResizeAxis& axis,
              const Filter& filter, double at, int64_t* indices,
              double* weights) {
  // The element left of the position; a position on an element is right of its
  // neighbour, so that the ratio lies in (0, 1].
  const double left = std::ceil(at) - 1;
  const double ratio = at - left;
  const int64_t n = filter.taps();
  for (int64_t t = 0; t < n; ++t) {
    const int64_t offset = filter.first() + t;
    const int64_t index = static_cast<int64_t>(left) + offset;
    const double distance =
        (static_cast<double>(offset) - ratio) * filter.stretch;
    weights[t] = params.mode == ResizeMode::kCubic
                     ? Cubic(distance, params.cubic_a)
                     : Linear(distance);
    indices[t] = std::clamp<int64_t>(index, 0, axis.in - 1);
    if (params.exclude_outside && index != indices[t]) weights[t] = 0;
  }
  Normalize(weights, n, ratio > 0.5 ? n / 2 : n / 2 - 1);
}

}  // namespace

double ResizePosition(const ResizeParams& params, const ResizeAxis& axis,
                      int64_t o) {
  const double x = static_cast<double>(o);
  const double last = static_cast<double>(axis.in - 1);
  const double half_pixel = (x + 0.5) / axis.scale - 0.5;
  switch (params.coordinates) {
    case ResizeCoordinates::kHalfPixel:
      return half_pixel;
    case ResizeCoordinates::kHalfPixelSymmetric: {
      const double center = static_cast<double>(axis.in) / 2;
      return center * (1 - static_cast<double>(axis.out) / axis.width) +
             half_pixel;
    }
    case ResizeCoordinates::kPytorchHalfPixel:
      return axis.out > 1 ? half_pixel : 0;
    case ResizeCoordinates::kAlignCorners:
      return o == 0 ? 0 : x * last / (axis.width - 1);
    case ResizeCoordinates::kAsymmetric:
      return x / axis.scale;
    case ResizeCoordinates::kTfHalfPixelForNn:
      return (x + 0.5) / axis.scale;
    case ResizeCoordinates::kTfCropAndResize:
      break;
  }
  if (axis.out == 1) return 0.5 * (axis.begin + axis.end) * last;
  return axis.begin * last +
         x * (axis.end - axis.begin) * last / (axis.width - 1);
}

absl::StatusOr<int64_t> ResizeTapEntries(const ResizeParams& params,
                                         const ResizeAxis& axis) {
  if (axis.out == 0) return 0;
  const int64_t taps =
      params.mode == ResizeMode::kNearest ? 1 : FilterOf(params, axis).taps();
  int64_t entries = 0;
  if (__builtin_mul_overflow(axis.out, taps, &entries) ||
      entries > kMaxEntries) {
    return absl::ResourceExhaustedError(
        absl::StrCat("an axis of ", axis.out, " elements with ", taps,
                     " taps each is too large to resize"));
  }
  return entries;
}

absl::StatusOr<ResizeTaps> MakeResizeTaps(const ResizeParams& params,
                                          const ResizeAxis& axis) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t entries,
                           ResizeTapEntries(params, axis));
  ResizeTaps out;
  if (axis.out == 0) return out;
  const Filter filter = FilterOf(params, axis);
  const bool nearest = params.mode == ResizeMode::kNearest;
  if (!nearest) out.taps = filter.taps();
  out.indices.resize(static_cast<size_t>(entries));
  if (!nearest) out.weights.resize(static_cast<size_t>(entries));
  const double last = static_cast<double>(axis.in - 1);
  for (int64_t o = 0; o < axis.out; ++o) {
    const double at = ResizePosition(params, axis, o);
    int64_t* indices = out.indices.data() + o * out.taps;
    if (params.coordinates == ResizeCoordinates::kTfCropAndResize &&
        !(at >= 0 && at <= last)) {
      std::fill_n(indices, out.taps, ResizeTaps::kOutside);
    } else if (nearest) {
      *indices =
          std::clamp<int64_t>(Nearest(params.nearest, at), 0, axis.in - 1);
    } else {
      FillTaps(params, axis, filter, at, indices,
               out.weights.data() + o * out.taps);
    }
  }
  return out;
}

}  // namespace reprise::ops
