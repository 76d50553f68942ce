// Operators that keep the elements and change the dims, and those that make
// shapes: Reshape, Flatten, Squeeze, Unsqueeze, Identity, Dropout, Shape, Size.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/ops/node_view.h"
#include "runtime/ops/op.h"
#include "runtime/tensor/shape.h"

namespace reprise::ops {

// Reshape's target with 0 (copy, unless `allowzero`) and -1 (the rest) resolved
// against `input`. INVALID_ARGUMENT if the elements do not fit.
absl::StatusOr<Dims> ResolveReshape(const Dims& input,
                                    const std::vector<int64_t>& target,
                                    bool allowzero);

// The slice of the input's dims that Shape returns: [start, end), opset 15.
struct ShapeParams {
  int64_t start = 0;
  int64_t end = 0;
};
absl::StatusOr<ShapeParams> ReadShape(const NodeView& view);

// `axes` from the attribute (below `input_since`) or from constant input 1;
// `has` is false where the node gives none.
struct AxesParam {
  bool has = false;
  std::vector<int64_t> axes;
};
absl::StatusOr<AxesParam> ReadAxes(const NodeView& view, int input_since);

// Dropout must not be asked to train: constant training_mode false, or absent.
absl::Status CheckDropout(const NodeView& view);

// The family's rows of the table.
std::span<const Op> ReshapeOps();

}  // namespace reprise::ops
