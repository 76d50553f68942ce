// TopK: the largest or smallest elements along an axis, and where they are.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "runtime/ops/node_view.h"
#include "runtime/ops/op.h"

namespace reprise::ops {

// Equal elements keep their order, and NaN is larger than every number. The
// attribute `sorted` needs no field: an unsorted answer may be sorted too.
struct TopKParams {
  int64_t axis = 0;
  int64_t k = 0;  // at most the axis's dim
  bool largest = true;
};
absl::StatusOr<TopKParams> ReadTopK(const NodeView& view);

// The family's rows of the table.
std::span<const Op> TopKOps();

}  // namespace reprise::ops
