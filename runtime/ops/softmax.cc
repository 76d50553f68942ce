#include "runtime/ops/softmax.h"

#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/tensor/shape.h"

namespace reprise::ops {
namespace {

using Types = std::vector<TensorType>;

absl::StatusOr<Types> InferSoftmax(const NodeView& view) {
  if (!IsFloat(view.dtype(0))) {
    return NotRunHere(absl::StrCat("does not take ", DTypeName(view.dtype(0))));
  }
  REPRISE_RETURN_IF_ERROR(ReadSoftmax(view).status());
  return Types{view.type(0)};
}

absl::StatusOr<BatchState> SoftmaxBatch(const BatchView& view) {
  const BatchState& in = view.inputs[0];
  if (in.count()) return MixesRows("uses the number of rows as data");
  REPRISE_ASSIGN_OR_RETURN(const SoftmaxParams params, ReadSoftmax(view.a));
  const bool over =
      params.flatten ? in.axis >= params.axis : in.axis == params.axis;
  if (in.rows() && over) {
    return MixesRows(
        absl::StrCat("normalises over the batch axis (", in.axis, ")"));
  }
  return in;
}

constexpr Op kOps[] = {
    {"Softmax", 1, 1, 1, 1, InferSoftmax, SoftmaxBatch, false},
    {"LogSoftmax", 1, 1, 1, 1, InferSoftmax, SoftmaxBatch, false},
    {"Hardmax", 1, 1, 1, 1, InferSoftmax, SoftmaxBatch, false},
};

}  // namespace

absl::StatusOr<SoftmaxParams> ReadSoftmax(const NodeView& view) {
  SoftmaxParams params;
  params.flatten = view.version() < 13;
  REPRISE_ASSIGN_OR_RETURN(
      const int64_t axis,
      view.attributes().Int("axis", params.flatten ? 1 : -1));
  const int64_t rank = view.rank(0);
  // Flattening at the rank itself leaves one element a row.
  if (params.flatten && axis == rank && rank > 0) {
    params.axis = rank;
  } else {
    REPRISE_ASSIGN_OR_RETURN(params.axis, NormalizeAxis(axis, rank));
  }
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t extent = view.dims(0)[static_cast<size_t>(i)];
    if (i < params.axis) {
      params.outer *= extent;
    } else if (i == params.axis || params.flatten) {
      params.length *= extent;
    } else {
      params.inner *= extent;
    }
  }
  return params;
}

std::span<const Op> SoftmaxOps() { return kOps; }

}  // namespace reprise::ops
