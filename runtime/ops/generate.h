// Operators that make tensors out of shapes and scalars alone.
#pragma once

#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "runtime/ops/node_view.h"
#include "runtime/ops/op.h"
#include "runtime/tensor/host_tensor.h"

namespace reprise::ops {

// ConstantOfShape's fill: one element; FP32 0 by default.
absl::StatusOr<std::shared_ptr<const HostTensor>> ReadFill(
    const NodeView& view);

// The family's rows of the table: ConstantOfShape and Range, which needs no
// reader: its operands are scalars of the output's dtype.
std::span<const Op> GenerateOps();

}  // namespace reprise::ops
