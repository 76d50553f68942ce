#include "runtime/ops/matmul.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/ops/elementwise.h"

namespace reprise::ops {
namespace {

using Types = std::vector<TensorType>;

absl::Status CheckDtypes(const NodeView& view) {
  for (size_t i = 0; i < view.input_count(); ++i) {
    if (!view.Has(i)) continue;
    if (view.dtype(i) != view.dtype(0)) {
      return BadNode(absl::StrCat("input ", i, " is ", DTypeName(view.dtype(i)),
                                  " and input 0 is ",
                                  DTypeName(view.dtype(0))));
    }
    if (!IsFloat(view.dtype(i)) && !IsInteger(view.dtype(i))) {
      return NotRunHere(
          absl::StrCat("does not take ", DTypeName(view.dtype(i))));
    }
  }
  return absl::OkStatus();
}

absl::Status DoNotFit(const NodeView& view) {
  return BadNode(absl::StrCat("matrices ", DimsText(view.dims(0)), " and ",
                              DimsText(view.dims(1)), " do not fit"));
}

absl::StatusOr<Types> InferMatMul(const NodeView& view) {
  REPRISE_RETURN_IF_ERROR(CheckDtypes(view));
  REPRISE_ASSIGN_OR_RETURN(const MatMulParams params, ReadMatMul(view));
  REPRISE_RETURN_IF_ERROR(NumElements(params.output).status());
  return Types{{view.dtype(0), params.output}};
}

absl::StatusOr<Types> InferGemm(const NodeView& view) {
  REPRISE_RETURN_IF_ERROR(CheckDtypes(view));
  REPRISE_ASSIGN_OR_RETURN(const GemmParams params, ReadGemm(view));
  REPRISE_RETURN_IF_ERROR(NumElements(Dims{params.m, params.n}).status());
  return Types{{view.dtype(0), Dims{params.m, params.n}}};
}

// Where operand `i`'s rows are in the output; `contracted` and `kept` are its
// matrix axes, counted from the end as 1 or 2.
absl::StatusOr<BatchState> OperandRows(const BatchView& view, size_t i) {
  BatchState state = view.inputs[i];
  if (!state.rows()) return state;
  const int64_t rank = view.a.rank(i);
  const int64_t out_rank = static_cast<int64_t>(view.out_a[0]->dims.size());
  const int64_t from_end = rank - state.axis;
  const int64_t contracted = rank == 1 || i == 0 ? 1 : 2;
  if (from_end == contracted) {
    return MixesRows(absl::StrCat("sums over the batch axis (", state.axis,
                                  " of input ", i, ")"));
  }
  if (from_end <= 2) {  // m of input 0, n of input 1
    const bool other_is_vector = view.a.rank(1 - i) == 1;
    state.axis = i == 0 && !other_is_vector ? out_rank - 2 : out_rank - 1;
    return state;
  }
  // A leading axis: the matrix axes that a 1-D operand lacks are not there.
  const int64_t matrix_axes = view.a.rank(1 - i) == 1 ? 1 : 2;
  state.axis = out_rank - matrix_axes - (from_end - 2);
  return state;
}

absl::StatusOr<BatchState> MatMulBatch(const BatchView& view) {
  if (view.inputs.size() > 2 && view.inputs[2] != BatchState::Fixed()) {
    return MixesRows("the bias varies by row");
  }
  REPRISE_ASSIGN_OR_RETURN(const BatchState a, OperandRows(view, 0));
  REPRISE_ASSIGN_OR_RETURN(const BatchState b, OperandRows(view, 1));
  return MergeRows(a, b);
}

absl::StatusOr<BatchState> GemmBatch(const BatchView& view) {
  REPRISE_ASSIGN_OR_RETURN(const GemmParams params, ReadGemm(view.a));
  BatchState merged;
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    BatchState state = view.inputs[i];
    if (i < 2 && state.rows()) {
      const bool transposed = i == 0 ? params.trans_a : params.trans_b;
      const int64_t contracted = (i == 0) != transposed ? 1 : 0;
      if (state.axis == contracted) {
        return MixesRows(absl::StrCat("sums over the batch axis (", state.axis,
                                      " of input ", i, ")"));
      }
      state.axis = static_cast<int64_t>(i);
    } else if (state.rows()) {
      state.axis = AlignAxis(state.axis, view.a.rank(i), 2);
    }
    REPRISE_ASSIGN_OR_RETURN(merged, MergeRows(merged, state));
  }
  return merged;
}

constexpr Op kOps[] = {
    {"MatMul", 1, 2, 3, 1, InferMatMul, MatMulBatch, false},
    {"Gemm", 7, 3, 3, 1, InferGemm, GemmBatch, false},
    {"Gemm", 11, 2, 3, 1, InferGemm, GemmBatch, false},
};

}  // namespace

absl::StatusOr<MatMulParams> ReadMatMul(const NodeView& view) {
  const Dims& a = view.dims(0);
  const Dims& b = view.dims(1);
  if (a.empty() || b.empty()) return DoNotFit(view);
  MatMulParams params;
  params.k = a.back();
  if (b[b.size() == 1 ? 0 : b.size() - 2] != params.k) return DoNotFit(view);
  if (a.size() > 1) {
    params.m = a[a.size() - 2];
    params.a_batch.assign(a.begin(), a.end() - 2);
  }
  if (b.size() > 1) {
    params.n = b.back();
    params.b_batch.assign(b.begin(), b.end() - 2);
  }
  absl::StatusOr<Dims> batch = BroadcastDims(params.a_batch, params.b_batch);
  if (!batch.ok()) return DoNotFit(view);
  params.batch = *std::move(batch);
  params.output = params.batch;
  if (a.size() > 1) params.output.push_back(params.m);
  if (b.size() > 1) params.output.push_back(params.n);
  params.has_bias = view.Has(2);
  if (params.has_bias && view.dims(2) != Dims{params.n}) {
    return BadNode(absl::StrCat("bias ", DimsText(view.dims(2)), " is not [",
                                params.n, "]"));
  }
  return params;
}

absl::StatusOr<GemmParams> ReadGemm(const NodeView& view) {
  GemmParams params;
  const graph::Attributes& attributes = view.attributes();
  REPRISE_ASSIGN_OR_RETURN(params.alpha, attributes.Float("alpha", 1));
  REPRISE_ASSIGN_OR_RETURN(params.beta, attributes.Float("beta", 1));
  REPRISE_ASSIGN_OR_RETURN(const int64_t trans_a, attributes.Int("transA", 0));
  REPRISE_ASSIGN_OR_RETURN(const int64_t trans_b, attributes.Int("transB", 0));
  params.trans_a = trans_a != 0;
  params.trans_b = trans_b != 0;
  const Dims& a = view.dims(0);
  const Dims& b = view.dims(1);
  if (a.size() != 2 || b.size() != 2) return DoNotFit(view);
  params.m = a[params.trans_a ? 1 : 0];
  params.k = a[params.trans_a ? 0 : 1];
  params.n = b[params.trans_b ? 0 : 1];
  if (b[params.trans_b ? 1 : 0] != params.k) return DoNotFit(view);
  params.has_c = view.Has(2);
  const Dims out{params.m, params.n};
  if (params.has_c) {
    const absl::StatusOr<Dims> dims = BroadcastDims(out, view.dims(2));
    if (!dims.ok() || *dims != out) {
      return BadNode(absl::StrCat("C ", DimsText(view.dims(2)),
                                  " does not broadcast to ", DimsText(out)));
    }
  }
  return params;
}

std::span<const Op> MatMulOps() { return kOps; }

}  // namespace reprise::ops
