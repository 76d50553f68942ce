// Arithmetic on the small values that shapes are made of.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/ops/carry_numbers.h"
#include "runtime/ops/node_view.h"

namespace reprise::ops {

// The result of `view`, an operator of two or more operands (Add, Equal, Min,
// ...). Empty if there is none to give: an operator that reals do not have, a
// division by zero. Wraps around as the kernels do.
absl::StatusOr<Tensors> CarryBinary(const NodeView& view,
                                    const TensorType& out);
bool CarriesBinary(absl::string_view op);

// Neg, Abs, Not, Floor, Ceil, Cast, CastLike.
absl::StatusOr<Tensors> CarryUnary(const NodeView& view, const TensorType& out);

absl::StatusOr<Tensors> CarryWhere(const NodeView& view, const TensorType& out);

// ReduceSum, ReduceProd, ReduceMax, ReduceMin of integers.
absl::StatusOr<Tensors> CarryReduce(const NodeView& view,
                                    const TensorType& out);

}  // namespace reprise::ops
