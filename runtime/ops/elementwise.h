// Element-wise operators: unary, binary, variadic, comparisons, logic, Where,
// Cast, Clip and the activations.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "absl/status/statusor.h"
#include "runtime/ops/node_view.h"
#include "runtime/ops/op.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/shape.h"

namespace reprise::ops {

// Dims of `a` and `b` broadcast together, numpy's way. INVALID_ARGUMENT if they
// do not fit.
absl::StatusOr<Dims> BroadcastDims(const Dims& a, const Dims& b);

// Of all present inputs of `view`.
absl::StatusOr<Dims> BroadcastInputs(const NodeView& view);

// `alpha` and `beta` of the activations, with the operator's own defaults:
// LeakyRelu(alpha) Elu(alpha) Celu(alpha) ThresholdedRelu(alpha)
// Selu(alpha, gamma as beta) HardSigmoid(alpha, beta); 0 for the others.
struct UnaryParams {
  float alpha = 0;
  float beta = 0;
};
absl::StatusOr<UnaryParams> ReadUnary(const NodeView& view);

// Clip's bounds, from attributes (< 11) or inputs 1 and 2; an absent bound is
// infinite. The integers hold the bounds of integer dtypes exactly, those of
// UINT64 by their bits; they are valid where the bound is present. A bound that
// is not a constant is `computed`: a device reads it, one element, from input 1
// (low) or 2 (high) when the node runs.
struct ClipParams {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool has_low = false;
  bool has_high = false;
  int64_t low_int = std::numeric_limits<int64_t>::min();
  int64_t high_int = std::numeric_limits<int64_t>::max();
  bool low_computed = false;
  bool high_computed = false;
};
absl::StatusOr<ClipParams> ReadClipBounds(const NodeView& view);

// The same for those who need both bounds now: UNIMPLEMENTED if one is
// computed.
absl::StatusOr<ClipParams> ReadClip(const NodeView& view);

// Target of Cast (attribute `to`, an ONNX data type number) or CastLike (the
// dtype of input 1). UNIMPLEMENTED for types that Reprise does not have.
absl::StatusOr<DType> ReadCastTarget(const NodeView& view);

// Gelu's attribute `approximate`: true for "tanh", false for "none" (erf).
absl::StatusOr<bool> ReadGeluTanh(const NodeView& view);

// Mod's attribute `fmod`: true = C's fmod (sign of the dividend), false = sign
// of the divisor (integers only).
absl::StatusOr<bool> ReadFmod(const NodeView& view);

// BitShift's attribute `direction`: true for "LEFT", false for "RIGHT".
absl::StatusOr<bool> ReadShiftsLeft(const NodeView& view);

// The family's rows of the table.
std::span<const Op> ElementwiseOps();

}  // namespace reprise::ops
