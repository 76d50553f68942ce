// Walks over the taps of a sliding window.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "runtime/cpu/strided.h"
#include "runtime/ops/window.h"

namespace reprise::cpu {

// A window over input spatial dims, in a form that needs no allocation to walk.
struct WindowWalk {
  int axes = 0;
  std::array<int64_t, kMaxAxes> kernel{};
  std::array<int64_t, kMaxAxes> strides{};
  std::array<int64_t, kMaxAxes> dilations{};
  std::array<int64_t, kMaxAxes> pads{};
  std::array<int64_t, kMaxAxes> pads_end{};
  std::array<int64_t, kMaxAxes> in{};
  std::array<int64_t, kMaxAxes> out{};
  int64_t taps = 1;
  int64_t in_size = 1;
  int64_t out_size = 1;
};

// `spatial` holds the input's dims after batch and channels.
inline WindowWalk MakeWalk(const ops::Window& window,
                           std::span<const int64_t> spatial) {
  WindowWalk walk;
  walk.axes = static_cast<int>(window.kernel.size());
  for (int i = 0; i < walk.axes; ++i) {
    walk.kernel[i] = window.kernel[i];
    walk.strides[i] = window.strides[i];
    walk.dilations[i] = window.dilations[i];
    walk.pads[i] = window.pads_begin[i];
    walk.pads_end[i] = window.pads_end[i];
    walk.in[i] = spatial[i];
    walk.out[i] = window.out[i];
    walk.taps *= walk.kernel[i];
    walk.in_size *= walk.in[i];
    walk.out_size *= walk.out[i];
  }
  return walk;
}

// The taps of one axis that lie in [low, high): from the first on, `count`.
struct TapRange {
  int64_t first = 0;
  int64_t count = 0;
};

// Of taps at corner, corner + dilation, ...: `kernel` of them.
inline TapRange TapsWithin(int64_t corner, int64_t dilation, int64_t kernel,
                           int64_t low, int64_t high) {
  // How many taps lie before `bound`.
  const auto before = [&](int64_t bound) {
    if (bound <= corner) return int64_t{0};
    return std::min(kernel, (bound - corner - 1) / dilation + 1);
  };
  const int64_t first = before(low);
  return {first, std::max<int64_t>(0, before(high) - first)};
}

// Where the window at output position `out` begins, on each axis.
inline std::array<int64_t, kMaxAxes> CornerOf(const WindowWalk& walk,
                                              int64_t out) {
  std::array<int64_t, kMaxAxes> corner{};
  for (int i = walk.axes - 1; i >= 0; --i) {
    corner[i] = out % walk.out[i] * walk.strides[i] - walk.pads[i];
    out /= walk.out[i];
  }
  return corner;
}

// fn(tap, offset) for every tap of the window at output position `out` that
// lies on an element of the input: `tap` counts the kernel's elements, `offset`
// the input's. What lies outside costs nothing, however large the kernel is.
template <typename Fn>
void ForEachTap(const WindowWalk& walk, int64_t out, Fn fn) {
  const std::array<int64_t, kMaxAxes> corner = CornerOf(walk, out);
  std::array<TapRange, kMaxAxes> range{};
  int64_t inside = 1;
  for (int i = 0; i < walk.axes; ++i) {
    range[i] =
        TapsWithin(corner[i], walk.dilations[i], walk.kernel[i], 0, walk.in[i]);
    inside *= range[i].count;
  }
  std::array<int64_t, kMaxAxes> index{};
  for (int64_t n = 0; n < inside; ++n) {
    int64_t tap = 0;
    int64_t offset = 0;
    for (int i = 0; i < walk.axes; ++i) {
      const int64_t at = range[i].first + index[i];
      tap = tap * walk.kernel[i] + at;
      offset = offset * walk.in[i] + corner[i] + at * walk.dilations[i];
    }
    fn(tap, offset);
    for (int i = walk.axes - 1; i >= 0; --i) {
      if (++index[i] < range[i].count) break;
      index[i] = 0;
    }
  }
}

// How many taps of the window at output position `out` lie on the input or in
// the pads that the model asked for. What ceil_mode reaches beyond is neither.
inline int64_t TapsWithinPads(const WindowWalk& walk, int64_t out) {
  const std::array<int64_t, kMaxAxes> corner = CornerOf(walk, out);
  int64_t count = 1;
  for (int i = 0; i < walk.axes; ++i) {
    count *= TapsWithin(corner[i], walk.dilations[i], walk.kernel[i],
                        -walk.pads[i], walk.in[i] + walk.pads_end[i])
                 .count;
  }
  return count;
}

}  // namespace reprise::cpu
