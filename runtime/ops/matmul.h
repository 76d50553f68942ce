// Matrix products: MatMul and Gemm.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "runtime/ops/node_view.h"
#include "runtime/ops/op.h"
#include "runtime/tensor/shape.h"

namespace reprise::ops {

// out[batch..., m, n] = a[batch..., m, k] x b[batch..., k, n], numpy's rules.
// 1-D operands are seen as [1,k] and [k,1] and the axis is dropped from the
// output. A fused MatMul has a third input, a bias of [n] that is added to
// every row.
struct MatMulParams {
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  Dims a_batch;  // leading dims of each operand
  Dims b_batch;
  Dims batch;  // both, broadcast together
  bool has_bias = false;
  Dims output;  // the node's output dims
};
absl::StatusOr<MatMulParams> ReadMatMul(const NodeView& view);

// out = alpha * op(a) x op(b) + beta * c, with c (if any) broadcast to [m, n].
struct GemmParams {
  float alpha = 1;
  float beta = 1;
  bool trans_a = false;
  bool trans_b = false;
  bool has_c = false;
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
};
absl::StatusOr<GemmParams> ReadGemm(const NodeView& view);

// The family's rows of the table.
std::span<const Op> MatMulOps();

}  // namespace reprise::ops
