// Reductions, ArgMax, ArgMin, CumSum.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/ops/node_view.h"
#include "runtime/ops/op.h"

namespace reprise::ops {

// `axes` is normalised, sorted and complete: without axes it lists all of them,
// or none when noop_with_empty_axes holds (then the output is the input).
struct ReduceParams {
  std::vector<int64_t> axes;
  bool keepdims = true;
};
absl::StatusOr<ReduceParams> ReadReduce(const NodeView& view);

struct ArgParams {
  int64_t axis = 0;
  bool keepdims = true;
  bool select_last = false;
};
absl::StatusOr<ArgParams> ReadArg(const NodeView& view);

struct CumSumParams {
  int64_t axis = 0;
  bool exclusive = false;
  bool reverse = false;
};
absl::StatusOr<CumSumParams> ReadCumSum(const NodeView& view);

// The family's rows of the table.
std::span<const Op> ReduceOps();

}  // namespace reprise::ops
