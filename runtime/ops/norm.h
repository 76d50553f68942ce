// Normalisations: BatchNormalization (inference), LRN, LayerNormalization,
// InstanceNormalization.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "runtime/ops/node_view.h"
#include "runtime/ops/op.h"

namespace reprise::ops {

// y = scale * (x - mean) / sqrt(var + epsilon) + bias, per channel (axis 1).
// Inputs: x, scale, bias, mean, var. Training mode is refused (UNIMPLEMENTED).
struct BatchNormParams {
  float epsilon = 1e-5f;
};
absl::StatusOr<BatchNormParams> ReadBatchNorm(const NodeView& view);

// y = x / (bias + alpha / size * sum over `size` channels around of x^2)^beta.
struct LrnParams {
  int64_t size = 1;
  float alpha = 1e-4f;
  float beta = 0.75f;
  float bias = 1;
};
absl::StatusOr<LrnParams> ReadLrn(const NodeView& view);

// Over the axes from `axis` on: the input seen as [outer, inner]; scale and
// bias have the dims of `inner`, or broadcast to it. Inputs: x, scale, optional
// bias.
struct LayerNormParams {
  int64_t axis = 0;
  float epsilon = 1e-5f;
  bool has_bias = false;
  int64_t outer = 1;
  int64_t inner = 1;
};
absl::StatusOr<LayerNormParams> ReadLayerNorm(const NodeView& view);

// Over the spatial axes of each row and channel. Inputs: x, scale [C], bias
// [C].
struct InstanceNormParams {
  float epsilon = 1e-5f;
};
absl::StatusOr<InstanceNormParams> ReadInstanceNorm(const NodeView& view);

// The family's rows of the table.
std::span<const Op> NormOps();

}  // namespace reprise::ops
