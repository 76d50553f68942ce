#include "runtime/ops/gather.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace reprise::ops {
namespace {

using Types = std::vector<TensorType>;

absl::StatusOr<Types> InferGather(const NodeView& view) {
  REPRISE_RETURN_IF_ERROR(CheckIndices(view));
  if (view.rank(0) == 0) return BadNode("input 0 is a scalar");
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis, ReadGatherAxis(view));
  const Dims& data = view.dims(0);
  TensorType out{view.dtype(0), Dims(data.begin(), data.begin() + axis)};
  out.dims.insert(out.dims.end(), view.dims(1).begin(), view.dims(1).end());
  out.dims.insert(out.dims.end(), data.begin() + axis + 1, data.end());
  REPRISE_RETURN_IF_ERROR(NumElements(out.dims).status());
  return Types{out};
}

absl::StatusOr<Types> InferGatherElements(const NodeView& view) {
  REPRISE_RETURN_IF_ERROR(CheckIndices(view));
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis, ReadGatherAxis(view));
  REPRISE_RETURN_IF_ERROR(CheckIndexDims(view, axis));
  return Types{{view.dtype(0), view.dims(1)}};
}

absl::StatusOr<Types> InferGatherNd(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const NdParams params, ReadNd(view));
  const Dims& data = view.dims(0);
  const Dims& indices = view.dims(1);
  TensorType out{view.dtype(0), Dims(indices.begin(), indices.end() - 1)};
  out.dims.insert(out.dims.end(), data.begin() + params.batch + params.depth,
                  data.end());
  REPRISE_RETURN_IF_ERROR(NumElements(out.dims).status());
  return Types{out};
}

absl::StatusOr<BatchState> GatherBatch(const BatchView& view) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis, ReadGatherAxis(view.a));
  const BatchState& data = view.inputs[0];
  const BatchState& indices = view.inputs[1];
  if (data.count() || indices.count()) {
    return MixesRows("uses the number of rows as data");
  }
  if (data.rows() && data.axis == axis) {
    return MixesRows(absl::StrCat("indexes the batch axis (", axis, ")"));
  }
  if (data.rows() && indices.rows()) {
    return MixesRows("data and indices both vary by row");
  }
  if (indices.rows()) {
    return BatchState::Rows(axis + indices.axis, indices.block);
  }
  BatchState out = data;
  if (out.rows() && out.axis > axis) out.axis += view.a.rank(1) - 1;
  return out;
}

absl::StatusOr<BatchState> GatherElementsBatch(const BatchView& view) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis, ReadGatherAxis(view.a));
  REPRISE_ASSIGN_OR_RETURN(const BatchState merged,
                           MergeRows(view.inputs[0], view.inputs[1]));
  if (!merged.rows()) return merged;
  const bool data = view.inputs[0].rows();
  if (data && merged.axis == axis) {
    return MixesRows(absl::StrCat("indexes the batch axis (", axis, ")"));
  }
  if (data && !view.inputs[1].rows()) {
    return MixesRows("indices do not vary by row");
  }
  if (!data && merged.axis != axis) {
    return MixesRows("a row's position in the batch chooses its elements");
  }
  return merged;
}

absl::StatusOr<BatchState> GatherNdBatch(const BatchView& view) {
  REPRISE_ASSIGN_OR_RETURN(const NdParams params, ReadNd(view.a));
  const BatchState& data = view.inputs[0];
  const BatchState& indices = view.inputs[1];
  if (data.count() || indices.count()) {
    return MixesRows("uses the number of rows as data");
  }
  if (indices.rows()) {
    const bool together = data == indices && data.axis < params.batch;
    const bool table = !data.rows() && indices.axis >= params.batch &&
                       indices.axis < view.a.rank(1) - 1;
    if (together || table) return indices;
    return MixesRows(data.rows() ? "data and indices both vary by row"
                                 : "a row's position chooses its elements");
  }
  const int64_t indexed = params.batch + params.depth;
  if (!data.rows()) return data;
  if (data.axis < indexed) {
    return MixesRows(absl::StrCat("indexes the batch axis (", data.axis, ")"));
  }
  return BatchState::Rows(view.a.rank(1) - 1 + data.axis - indexed, data.block);
}

constexpr Op kOps[] = {
    {"Gather", 1, 2, 2, 1, InferGather, GatherBatch, true},
    {"GatherElements", 11, 2, 2, 1, InferGatherElements, GatherElementsBatch,
     false},
    {"GatherND", 11, 2, 2, 1, InferGatherNd, GatherNdBatch, false},
};

}  // namespace

absl::Status CheckIndices(const NodeView& view) {
  if (view.dtype(1) == DType::kInt64 || view.dtype(1) == DType::kInt32) {
    return absl::OkStatus();
  }
  return BadNode(absl::StrCat("indices are ", DTypeName(view.dtype(1)),
                              ", not INT64 or INT32"));
}

absl::StatusOr<int64_t> ReadGatherAxis(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis,
                           view.attributes().Int("axis", 0));
  return NormalizeAxis(axis, view.rank(0));
}

absl::Status CheckIndexDims(const NodeView& view, int64_t axis) {
  bool fits = view.rank(0) == view.rank(1) && view.rank(0) > 0;
  for (int64_t i = 0; fits && i < view.rank(0); ++i) {
    fits = i == axis || view.dim(1, i) <= view.dim(0, i);
  }
  if (fits) return absl::OkStatus();
  return BadNode(absl::StrCat("indices ", DimsText(view.dims(1)),
                              " do not fit the data ", DimsText(view.dims(0)),
                              " along axis ", axis));
}

absl::StatusOr<NdParams> ReadNd(const NodeView& view) {
  NdParams params;
  if (view.op() == "GatherND" && view.version() >= 12) {
    REPRISE_ASSIGN_OR_RETURN(params.batch,
                             view.attributes().Int("batch_dims", 0));
  }
  if (view.dtype(1) != DType::kInt64) {
    return BadNode(
        absl::StrCat("indices are ", DTypeName(view.dtype(1)), ", not INT64"));
  }
  const int64_t rank = view.rank(1);
  bool fits = rank > 0 && view.rank(0) > 0 && params.batch >= 0 &&
              params.batch < std::min(rank, view.rank(0));
  for (int64_t i = 0; fits && i < params.batch; ++i) {
    fits = view.dim(0, i) == view.dim(1, i);
  }
  if (fits) {
    params.depth = view.dim(1, rank - 1);
    fits = params.depth > 0 && params.depth <= view.rank(0) - params.batch;
  }
  if (fits) return params;
  return BadNode(absl::StrCat("indices ", DimsText(view.dims(1)),
                              " do not index the data ", DimsText(view.dims(0)),
                              " after ", params.batch, " batch axes"));
}

std::span<const Op> GatherOps() { return kOps; }

}  // namespace reprise::ops
