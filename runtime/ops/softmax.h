// Softmax, LogSoftmax and Hardmax.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "runtime/ops/node_view.h"
#include "runtime/ops/op.h"

namespace reprise::ops {

// The input seen as [outer, length, inner]; the operator runs along `length`.
// Opsets below 13 flatten everything from the axis on (inner is 1); later ones
// run along the axis alone. This struct is all that a device needs of it.
struct SoftmaxParams {
  int64_t axis = 0;      // normalised
  bool flatten = false;  // the semantics below opset 13
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;
};
absl::StatusOr<SoftmaxParams> ReadSoftmax(const NodeView& view);

// The family's rows of the table.
std::span<const Op> SoftmaxOps();

}  // namespace reprise::ops
