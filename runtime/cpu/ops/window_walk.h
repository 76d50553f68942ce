// Walks over the taps of a sliding window.
#pragma once

#include <array>
#include <cstdint>

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

// fn(tap, offset, in_padding) for every tap of the window at output position
// `out`: `tap` counts the kernel's elements, `offset` is the input's element or
// -1 outside, `in_padding` whether a tap outside still lies within the pads
// that the model asked for.
template <typename Fn>
void ForEachTap(const WindowWalk& walk, int64_t out, Fn fn) {
  std::array<int64_t, kMaxAxes> corner{};
  for (int i = walk.axes - 1; i >= 0; --i) {
    corner[i] = out % walk.out[i] * walk.strides[i] - walk.pads[i];
    out /= walk.out[i];
  }
  std::array<int64_t, kMaxAxes> index{};
  for (int64_t tap = 0; tap < walk.taps; ++tap) {
    int64_t offset = 0;
    bool inside = true;
    bool padded = true;
    for (int i = 0; i < walk.axes; ++i) {
      const int64_t at = corner[i] + index[i] * walk.dilations[i];
      inside = inside && at >= 0 && at < walk.in[i];
      padded =
          padded && at >= -walk.pads[i] && at < walk.in[i] + walk.pads_end[i];
      offset = offset * walk.in[i] + at;
    }
    fn(tap, inside ? offset : -1, padded);
    for (int i = walk.axes - 1; i >= 0; --i) {
      if (++index[i] < walk.kernel[i]) break;
      index[i] = 0;
    }
  }
}

}  // namespace reprise::cpu
