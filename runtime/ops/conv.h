// Convolution.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "runtime/ops/node_view.h"
#include "runtime/ops/op.h"
#include "runtime/ops/window.h"
#include "runtime/tensor/shape.h"

namespace reprise::ops {

// Inputs are x [N, C, spatial...], w [M, C/group, kernel...] and an optional
// bias [M]. Any number of spatial axes from 1.
struct ConvGeometry {
  Window window;
  int64_t group = 1;
  int64_t in_channels = 0;   // C
  int64_t out_channels = 0;  // M
  bool has_bias = false;
  Dims output;  // [N, M, out...]
};
absl::StatusOr<ConvGeometry> ReadConv(const NodeView& view);

// The family's rows of the table.
std::span<const Op> ConvOps();

}  // namespace reprise::ops
