// The arithmetic of Resize along one axis: which elements of the input make an
// element of the output, and with which weights. A device turns it into
// copies (nearest) or weighted sums (linear, cubic), an axis at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/ops/resize.h"

namespace reprise::ops {

// Element `o` of the output is the sum over t of weights[o * taps + t] times
// element indices[o * taps + t] of the input; or the extrapolation value, where
// the first index is kOutside. The weights of an element add up to 1.
struct ResizeTaps {
  static constexpr int64_t kOutside = -1;
  int64_t taps = 1;
  std::vector<int64_t> indices;
  std::vector<double> weights;  // empty for nearest: one tap of weight 1
};

// The position in the input of element `o` of the output. With an output of one
// element, kPytorchHalfPixel gives 0, as ONNX's text says (its reference code
// says -0.5).
double ResizePosition(const ResizeParams& params, const ResizeAxis& axis,
                      int64_t o);

// How many entries its tables have. RESOURCE_EXHAUSTED: more than 2^26.
absl::StatusOr<int64_t> ResizeTapEntries(const ResizeParams& params,
                                         const ResizeAxis& axis);

// RESOURCE_EXHAUSTED as ResizeTapEntries.
absl::StatusOr<ResizeTaps> MakeResizeTaps(const ResizeParams& params,
                                          const ResizeAxis& axis);

}  // namespace reprise::ops
