// Pooling: MaxPool, AveragePool and their global forms.
#pragma once

#include <span>

#include "absl/status/statusor.h"
#include "runtime/ops/node_view.h"
#include "runtime/ops/op.h"
#include "runtime/ops/window.h"
#include "runtime/tensor/shape.h"

namespace reprise::ops {

// Global pooling is a window of the whole input. `count_include_pad`: an
// average divides by the kernel's size, padding included (but not what
// ceil_mode adds beyond pads_end).
struct PoolGeometry {
  Window window;
  bool count_include_pad = false;
  bool global = false;
  bool column_major_indices = false;  // MaxPool's storage_order, second output
  Dims output;                        // [N, C, out...]
};
absl::StatusOr<PoolGeometry> ReadPool(const NodeView& view);

// The family's rows of the table.
std::span<const Op> PoolOps();

}  // namespace reprise::ops
