#include "runtime/ops/window.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace reprise::ops {
namespace {

// A list of `count` integers in [low, 2^31), `fallback` each where absent.
absl::StatusOr<std::vector<int64_t>> ReadList(const NodeView& view,
                                              absl::string_view name,
                                              size_t count, int64_t fallback,
                                              int64_t low) {
  REPRISE_ASSIGN_OR_RETURN(
      std::vector<int64_t> list,
      view.attributes().Ints(name, std::vector<int64_t>(count, fallback)));
  if (list.size() != count) {
    return BadNode(absl::StrCat(name, " ", DimsText(list), " should have ",
                                count, " entries"));
  }
  for (const int64_t entry : list) {
    if (entry < low || entry > int64_t{0x7fffffff}) {
      return BadNode(
          absl::StrCat(name, " ", DimsText(list), " are out of range"));
    }
  }
  return list;
}

// Output = ceil(input / stride); the odd pixel goes to the end (upper) or to
// the beginning (lower).
void PadSame(int64_t input, int64_t span, bool upper, Window& window,
             size_t i) {
  const int64_t stride = window.strides[i];
  const int64_t out = (input + stride - 1) / stride;
  const int64_t total = std::max<int64_t>(0, (out - 1) * stride + span - input);
  const int64_t small = total / 2;
  window.pads_begin[i] = upper ? small : total - small;
  window.pads_end[i] = upper ? total - small : small;
}

int64_t OutputExtent(int64_t input, int64_t span, bool ceil_mode,
                     const Window& window, size_t i) {
  const int64_t stride = window.strides[i];
  const int64_t room = input + window.pads_begin[i] + window.pads_end[i] - span;
  if (!ceil_mode) return room / stride + 1;
  const int64_t out = (room + stride - 1) / stride + 1;
  // The last window must begin inside the input or the padding before it.
  const bool beyond = (out - 1) * stride >= input + window.pads_begin[i];
  return beyond ? out - 1 : out;
}

}  // namespace

absl::StatusOr<Window> ReadWindow(const NodeView& view,
                                  const std::vector<int64_t>& input,
                                  std::vector<int64_t> kernel, bool ceil_mode) {
  const size_t count = input.size();
  Window window;
  window.kernel = std::move(kernel);
  if (window.kernel.size() != count) {
    return BadNode(absl::StrCat("kernel_shape ", DimsText(window.kernel),
                                " does not fit ", count, " spatial axes"));
  }
  REPRISE_ASSIGN_OR_RETURN(window.strides,
                           ReadList(view, "strides", count, 1, 1));
  REPRISE_ASSIGN_OR_RETURN(window.dilations,
                           ReadList(view, "dilations", count, 1, 1));
  REPRISE_ASSIGN_OR_RETURN(const std::vector<int64_t> pads,
                           ReadList(view, "pads", 2 * count, 0, 0));
  REPRISE_ASSIGN_OR_RETURN(const std::string auto_pad,
                           view.attributes().String("auto_pad", "NOTSET"));
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (!same && auto_pad != "NOTSET" && auto_pad != "VALID" &&
      !auto_pad.empty()) {
    return BadNode(absl::StrCat("auto_pad '", auto_pad, "' is not defined"));
  }
  window.pads_begin.assign(count, 0);
  window.pads_end.assign(count, 0);
  for (size_t i = 0; i < count; ++i) {
    const int64_t k = window.kernel[i];
    if (k < 1 || k > int64_t{0x7fffffff}) {
      return BadNode(absl::StrCat("kernel_shape ", DimsText(window.kernel),
                                  " is out of range"));
    }
    const int64_t span = (k - 1) * window.dilations[i] + 1;
    if (same) {
      PadSame(input[i], span, auto_pad == "SAME_UPPER", window, i);
    } else if (auto_pad != "VALID") {
      window.pads_begin[i] = pads[i];
      window.pads_end[i] = pads[i + count];
    }
    if (input[i] + window.pads_begin[i] + window.pads_end[i] < span) {
      return BadNode(absl::StrCat(
          "a kernel of ", span, " is larger than its padded input of ",
          input[i] + window.pads_begin[i] + window.pads_end[i],
          " on spatial axis ", i));
    }
    window.out.push_back(OutputExtent(input[i], span, ceil_mode, window, i));
  }
  if (!NumElements(window.kernel).ok()) {
    return BadNode(absl::StrCat("kernel_shape ", DimsText(window.kernel),
                                " has too many elements"));
  }
  return window;
}

}  // namespace reprise::ops
