// Scatter, ScatterElements and ScatterND, which write where indices say, and
// OneHot.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "runtime/ops/node_view.h"
#include "runtime/ops/op.h"

namespace reprise::ops {

// How a value is combined with the one that it meets. Which of several equal
// indices is the last without a reduction is not defined.
enum class ScatterReduction { kNone, kAdd, kMul, kMax, kMin };
absl::StatusOr<ScatterReduction> ReadScatterReduction(const NodeView& view);

// OneHot's axis in the output, and the length of that axis.
struct OneHotParams {
  int64_t axis = 0;
  int64_t depth = 0;
};
absl::StatusOr<OneHotParams> ReadOneHot(const NodeView& view);

// The family's rows of the table.
std::span<const Op> ScatterOps();

}  // namespace reprise::ops
