// Operators that put elements in another order or repeat them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/ops/node_view.h"
#include "runtime/ops/op.h"

// Reshape, Flatten, Squeeze, Unsqueeze, Identity and Dropout (inference) need
// no reader: their output holds the bytes of input 0 with the dims of its type.
// Expand needs none either: input 0 is broadcast to the output's dims.
namespace reprise::ops {

// perm[i] is the input axis that becomes output axis i.
absl::StatusOr<std::vector<int64_t>> ReadTransposePerm(const NodeView& view);

// Concat's axis, in [0, rank).
absl::StatusOr<int64_t> ReadConcatAxis(const NodeView& view);

// Tile's repeats, one per axis.
absl::StatusOr<std::vector<int64_t>> ReadTileRepeats(const NodeView& view);

// DepthToSpace and SpaceToDepth. `crd`: mode CRD (DepthToSpace only), else DCR.
struct DepthSpaceParams {
  int64_t block = 1;
  bool crd = false;
};
absl::StatusOr<DepthSpaceParams> ReadDepthSpace(const NodeView& view);

// Trilu: attribute `upper`, and the diagonal `k`.
struct TriluParams {
  bool upper = true;
  int64_t k = 0;
};
absl::StatusOr<TriluParams> ReadTrilu(const NodeView& view);

// The family's rows of the table.
std::span<const Op> LayoutOps();

}  // namespace reprise::ops
