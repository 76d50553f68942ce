// Operators that move, copy or index elements without computing on them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/ops/node_view.h"
#include "runtime/ops/op.h"
#include "runtime/tensor/host_tensor.h"
#include "runtime/tensor/shape.h"

// Reshape, Flatten, Squeeze, Unsqueeze, Identity and Dropout (inference) need
// no reader: their output holds the bytes of input 0 with the dims of its type.
// Expand needs none either: input 0 is broadcast to the output's dims.
namespace reprise::ops {

// perm[i] is the input axis that becomes output axis i.
absl::StatusOr<std::vector<int64_t>> ReadTransposePerm(const NodeView& view);

// Concat's axis, in [0, rank).
absl::StatusOr<int64_t> ReadConcatAxis(const NodeView& view);

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

// Gather's (and GatherElements', ScatterElements') axis in [0, rank).
// Indices may be negative; an index out of range is the run's concern.
absl::StatusOr<int64_t> ReadGatherAxis(const NodeView& view);

enum class PadMode { kConstant, kEdge, kReflect, kWrap };
// One entry per axis. Negative pads crop. `value` is of the input's dtype, one
// element, null where the mode needs none or the default of 0 holds.
struct PadParams {
  PadMode mode = PadMode::kConstant;
  std::vector<int64_t> begins;
  std::vector<int64_t> ends;
  double value = 0;
};
absl::StatusOr<PadParams> ReadPad(const NodeView& view);

// Tile's repeats, one per axis.
absl::StatusOr<std::vector<int64_t>> ReadTileRepeats(const NodeView& view);

// DepthToSpace and SpaceToDepth. `crd`: mode CRD (DepthToSpace only), else DCR.
struct DepthSpaceParams {
  int64_t block = 1;
  bool crd = false;
};
absl::StatusOr<DepthSpaceParams> ReadDepthSpace(const NodeView& view);

// ConstantOfShape's fill: one element; FP32 0 by default.
absl::StatusOr<std::shared_ptr<const HostTensor>> ReadFill(
    const NodeView& view);

// Trilu: attribute `upper`, and the diagonal `k`.
struct TriluParams {
  bool upper = true;
  int64_t k = 0;
};
absl::StatusOr<TriluParams> ReadTrilu(const NodeView& view);

// The family's rows of the table.
std::span<const Op> LayoutOps();

}  // namespace reprise::ops
