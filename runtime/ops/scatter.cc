#include "runtime/ops/scatter.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/ops/gather.h"

namespace reprise::ops {
namespace {

using Types = std::vector<TensorType>;

absl::Status CheckUpdates(const NodeView& view, const Dims& dims) {
  REPRISE_ASSIGN_OR_RETURN(const ScatterReduction reduction,
                           ReadScatterReduction(view));
  const DType dtype = view.dtype(0);
  if (view.dtype(2) != dtype || view.dims(2) != dims) {
    return BadNode(absl::StrCat("updates are ", DTypeName(view.dtype(2)), " ",
                                DimsText(view.dims(2)), ", not ",
                                DTypeName(dtype), " ", DimsText(dims)));
  }
  if (dtype == DType::kString ||
      (dtype == DType::kBool && reduction != ScatterReduction::kNone)) {
    return NotRunHere(absl::StrCat("does not take ", DTypeName(dtype)));
  }
  return absl::OkStatus();
}

absl::StatusOr<Types> InferScatterElements(const NodeView& view) {
  REPRISE_RETURN_IF_ERROR(CheckIndices(view));
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis, ReadGatherAxis(view));
  REPRISE_RETURN_IF_ERROR(CheckIndexDims(view, axis));
  REPRISE_RETURN_IF_ERROR(CheckUpdates(view, view.dims(1)));
  return Types{view.type(0)};
}

absl::StatusOr<Types> InferScatterNd(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const NdParams params, ReadNd(view));
  Dims updates(view.dims(1).begin(), view.dims(1).end() - 1);
  updates.insert(updates.end(), view.dims(0).begin() + params.depth,
                 view.dims(0).end());
  REPRISE_RETURN_IF_ERROR(CheckUpdates(view, updates));
  return Types{view.type(0)};
}

absl::StatusOr<Types> InferOneHot(const NodeView& view) {
  if (!IsFloat(view.dtype(0)) && !IsInteger(view.dtype(0))) {
    return BadNode(
        absl::StrCat("indices are ", DTypeName(view.dtype(0)), ", no numbers"));
  }
  if (view.dtype(2) == DType::kString) return NotRunHere("does not take BYTES");
  if (view.dims(2) != Dims{2}) {
    return BadNode(absl::StrCat("values ", DimsText(view.dims(2)),
                                " are not the two of off and on"));
  }
  REPRISE_ASSIGN_OR_RETURN(const OneHotParams params, ReadOneHot(view));
  TensorType out{view.dtype(2), view.dims(0)};
  out.dims.insert(out.dims.begin() + params.axis, params.depth);
  REPRISE_RETURN_IF_ERROR(NumElements(out.dims).status());
  return Types{out};
}

// Data, indices and updates carry the rows together, or none of them does.
absl::StatusOr<BatchState> ScatterElementsBatch(const BatchView& view) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis, ReadGatherAxis(view.a));
  BatchState merged;
  int carriers = 0;
  for (const BatchState& in : view.inputs) {
    REPRISE_ASSIGN_OR_RETURN(merged, MergeRows(merged, in));
    if (in.rows()) ++carriers;
  }
  if (!merged.rows()) return merged;
  if (merged.axis == axis) {
    return MixesRows(absl::StrCat("indexes the batch axis (", axis, ")"));
  }
  if (carriers != 3) {
    return MixesRows("data, indices and updates do not all vary by row");
  }
  return merged;
}

absl::StatusOr<BatchState> ScatterNdBatch(const BatchView& view) {
  REPRISE_ASSIGN_OR_RETURN(const NdParams params, ReadNd(view.a));
  for (const BatchState& in : view.inputs) {
    if (in.count()) return MixesRows("uses the number of rows as data");
  }
  const BatchState& data = view.inputs[0];
  BatchState updates = view.inputs[2];
  if (view.inputs[1].rows()) return MixesRows("indices vary by row");
  if (!data.rows() && !updates.rows()) return data;
  updates.axis += params.depth + 1 - view.a.rank(1);  // seen from the data
  if (data.axis < params.depth || data != updates) {
    return MixesRows("data and updates do not carry the rows together");
  }
  return data;
}

absl::StatusOr<BatchState> OneHotBatch(const BatchView& view) {
  REPRISE_ASSIGN_OR_RETURN(const OneHotParams params, ReadOneHot(view.a));
  const BatchState& indices = view.inputs[0];
  if (indices.count() || view.inputs[2].count() || view.inputs[2].rows()) {
    return MixesRows("the indices alone may vary by row");
  }
  BatchState out = indices;
  if (out.rows() && out.axis >= params.axis) ++out.axis;
  return out;
}

constexpr Op kOps[] = {
    {"Scatter", 9, 3, 3, 1, InferScatterElements, ScatterElementsBatch, false},
    {"ScatterElements", 11, 3, 3, 1, InferScatterElements, ScatterElementsBatch,
     false},
    {"ScatterND", 11, 3, 3, 1, InferScatterNd, ScatterNdBatch, false},
    {"OneHot", 9, 3, 3, 1, InferOneHot, OneHotBatch, false},
};

}  // namespace

absl::StatusOr<ScatterReduction> ReadScatterReduction(const NodeView& view) {
  if (view.version() < 16) return ScatterReduction::kNone;
  REPRISE_ASSIGN_OR_RETURN(const std::string word,
                           view.attributes().String("reduction", "none"));
  if (word == "none") return ScatterReduction::kNone;
  if (word == "add") return ScatterReduction::kAdd;
  if (word == "mul") return ScatterReduction::kMul;
  if (word == "max" && view.version() >= 18) return ScatterReduction::kMax;
  if (word == "min" && view.version() >= 18) return ScatterReduction::kMin;
  return BadNode(absl::StrCat("reduction '", word, "' is not defined"));
}

absl::StatusOr<OneHotParams> ReadOneHot(const NodeView& view) {
  OneHotParams params;
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis,
                           view.attributes().Int("axis", -1));
  REPRISE_ASSIGN_OR_RETURN(params.axis, NormalizeAxis(axis, view.rank(0) + 1));
  REPRISE_ASSIGN_OR_RETURN(const double depth,
                           ConstantNumber(view, 1, "depth"));
  if (!(depth >= 0 && depth < 9e15)) {
    return BadNode(absl::StrCat("depth is ", depth));
  }
  params.depth = static_cast<int64_t>(depth);
  return params;
}

std::span<const Op> ScatterOps() { return kOps; }

}  // namespace reprise::ops
