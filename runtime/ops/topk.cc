#include "runtime/ops/topk.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace reprise::ops {
namespace {

using Types = std::vector<TensorType>;

absl::StatusOr<Types> InferTopK(const NodeView& view) {
  const DType dtype = view.dtype(0);
  if (!IsFloat(dtype) && !IsInteger(dtype)) {
    return NotRunHere(absl::StrCat("does not take ", DTypeName(dtype)));
  }
  REPRISE_ASSIGN_OR_RETURN(const TopKParams params, ReadTopK(view));
  Dims dims = view.dims(0);
  dims[static_cast<size_t>(params.axis)] = params.k;
  return Types{{dtype, dims}, {DType::kInt64, dims}};
}

absl::StatusOr<BatchState> TopKBatch(const BatchView& view) {
  REPRISE_ASSIGN_OR_RETURN(const TopKParams a, ReadTopK(view.a));
  REPRISE_ASSIGN_OR_RETURN(const TopKParams b, ReadTopK(view.b));
  const BatchState& in = view.inputs[0];
  if (in.count()) return MixesRows("uses the number of rows as data");
  if (in.rows() && in.axis == a.axis) {
    return MixesRows(absl::StrCat("sorts the batch axis (", in.axis, ")"));
  }
  if (a.k != b.k) return MixesRows("picks by the number of rows");
  return in;
}

constexpr Op kOps[] = {
    {"TopK", 1, 1, 1, 2, InferTopK, TopKBatch, false},
    {"TopK", 10, 2, 2, 2, InferTopK, TopKBatch, false},
};

}  // namespace

absl::StatusOr<TopKParams> ReadTopK(const NodeView& view) {
  TopKParams params;
  const graph::Attributes& attributes = view.attributes();
  if (view.rank(0) == 0) return BadNode("input 0 is a scalar");
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis, attributes.Int("axis", -1));
  REPRISE_ASSIGN_OR_RETURN(params.axis, NormalizeAxis(axis, view.rank(0)));
  if (view.version() < 10) {
    REPRISE_ASSIGN_OR_RETURN(params.k, attributes.Int("k"));
  } else {
    REPRISE_ASSIGN_OR_RETURN(const std::vector<int64_t> k,
                             ConstantInts(view, 1, "K"));
    if (k.size() != 1) return BadNode("input K is not one integer");
    params.k = k[0];
  }
  const int64_t extent = view.dim(0, params.axis);
  if (params.k < 0 || params.k > extent) {
    return BadNode(absl::StrCat("K is ", params.k, ", but axis ", params.axis,
                                " has ", extent, " elements"));
  }
  if (view.version() >= 11) {
    REPRISE_ASSIGN_OR_RETURN(const int64_t largest,
                             attributes.Int("largest", 1));
    params.largest = largest != 0;
  }
  return params;
}

std::span<const Op> TopKOps() { return kOps; }

}  // namespace reprise::ops
