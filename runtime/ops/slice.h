// Slice, Split and Pad: operators that cut tensors and add edges to them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/ops/node_view.h"
#include "runtime/ops/op.h"

namespace reprise::ops {

// Sizes along `axis`, one for each output; their sum is the axis's dim.
struct SplitParams {
  int64_t axis = 0;
  std::vector<int64_t> sizes;
};
absl::StatusOr<SplitParams> ReadSplit(const NodeView& view);

// One entry per axis of the input, in order: out[i] = in[start + i * step],
// `extent` elements. Axes that are not sliced have start 0, step 1 and the
// whole extent. Steps may be negative; extents may be 0.
struct SliceParams {
  std::vector<int64_t> starts;
  std::vector<int64_t> steps;
  std::vector<int64_t> extents;
};
absl::StatusOr<SliceParams> ReadSlice(const NodeView& view);

enum class PadMode { kConstant, kEdge, kReflect, kWrap };
// One entry per axis. Negative pads crop. Where the mode is kConstant `value`
// fills; if it is `computed`, a device reads it, one element, from input 2 when
// the node runs.
struct PadParams {
  PadMode mode = PadMode::kConstant;
  std::vector<int64_t> begins;
  std::vector<int64_t> ends;
  double value = 0;
  bool computed = false;
};
absl::StatusOr<PadParams> ReadPad(const NodeView& view);

// The family's rows of the table.
std::span<const Op> SliceOps();

}  // namespace reprise::ops
