#include "runtime/ops/reduce.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/ops/reshape.h"
#include "runtime/tensor/shape.h"

namespace reprise::ops {
namespace {

using Types = std::vector<TensorType>;

Dims ReducedDims(const Dims& dims, const std::vector<int64_t>& axes,
                 bool keepdims) {
  Dims out;
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool reduced =
        std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(i));
    if (!reduced) out.push_back(dims[i]);
    if (reduced && keepdims) out.push_back(1);
  }
  return out;
}

absl::Status CheckNumber(const NodeView& view) {
  if (IsNumber(view.dtype(0))) return absl::OkStatus();
  return NotRunHere(absl::StrCat("does not take ", DTypeName(view.dtype(0))));
}

// Of BOOL, ReduceMax is "any" and ReduceMin "all", from opset 20 on.
bool TakesBool(const NodeView& view) {
  return view.version() >= 20 &&
         (view.op() == "ReduceMax" || view.op() == "ReduceMin");
}

absl::StatusOr<Types> InferReduce(const NodeView& view) {
  if (view.dtype(0) != DType::kBool || !TakesBool(view)) {
    REPRISE_RETURN_IF_ERROR(CheckNumber(view));
  }
  REPRISE_ASSIGN_OR_RETURN(const ReduceParams params, ReadReduce(view));
  return Types{
      {view.dtype(0), ReducedDims(view.dims(0), params.axes, params.keepdims)}};
}

absl::StatusOr<Types> InferArg(const NodeView& view) {
  REPRISE_RETURN_IF_ERROR(CheckNumber(view));
  REPRISE_ASSIGN_OR_RETURN(const ArgParams params, ReadArg(view));
  if (!view.dims(0).empty() &&
      view.dims(0)[static_cast<size_t>(params.axis)] == 0) {
    return BadNode(absl::StrCat("axis ", params.axis, " is empty"));
  }
  return Types{{DType::kInt64,
                ReducedDims(view.dims(0), {params.axis}, params.keepdims)}};
}

absl::StatusOr<Types> InferCumSum(const NodeView& view) {
  REPRISE_RETURN_IF_ERROR(CheckNumber(view));
  REPRISE_RETURN_IF_ERROR(ReadCumSum(view).status());
  return Types{view.type(0)};
}

absl::StatusOr<BatchState> AcrossAxes(const BatchState& in,
                                      const std::vector<int64_t>& axes,
                                      bool keepdims) {
  if (in.count()) return MixesRows("uses the number of rows as data");
  if (!in.rows()) return in;
  if (std::binary_search(axes.begin(), axes.end(), in.axis)) {
    return MixesRows(
        absl::StrCat("reduces over the batch axis (", in.axis, ")"));
  }
  BatchState out = in;
  if (!keepdims) {
    out.axis -=
        std::lower_bound(axes.begin(), axes.end(), in.axis) - axes.begin();
  }
  return out;
}

absl::StatusOr<BatchState> ReduceBatch(const BatchView& view) {
  REPRISE_ASSIGN_OR_RETURN(const ReduceParams params, ReadReduce(view.a));
  REPRISE_ASSIGN_OR_RETURN(const ReduceParams other, ReadReduce(view.b));
  if (params.axes != other.axes) {
    return MixesRows("reduces by the number of rows");
  }
  return AcrossAxes(view.inputs[0], params.axes, params.keepdims);
}

absl::StatusOr<BatchState> ArgBatch(const BatchView& view) {
  REPRISE_ASSIGN_OR_RETURN(const ArgParams params, ReadArg(view.a));
  return AcrossAxes(view.inputs[0], {params.axis}, params.keepdims);
}

absl::StatusOr<BatchState> CumSumBatch(const BatchView& view) {
  REPRISE_ASSIGN_OR_RETURN(const CumSumParams params, ReadCumSum(view.a));
  REPRISE_ASSIGN_OR_RETURN(const CumSumParams other, ReadCumSum(view.b));
  if (params.axis != other.axis) return MixesRows("sums by the number of rows");
  return AcrossAxes(view.inputs[0], {params.axis}, /*keepdims=*/true);
}

constexpr Op Reduce(absl::string_view name, int since, int max_inputs) {
  return {name, since, 1, max_inputs, 1, InferReduce, ReduceBatch, false};
}
constexpr Op Arg(absl::string_view name) {
  return {name, 1, 1, 1, 1, InferArg, ArgBatch, false};
}

constexpr Op kOps[] = {
    Reduce("ReduceSum", 1, 1),
    Reduce("ReduceSum", 13, 2),
    Reduce("ReduceMean", 1, 1),
    Reduce("ReduceMean", 18, 2),
    Reduce("ReduceMax", 1, 1),
    Reduce("ReduceMax", 18, 2),
    Reduce("ReduceMin", 1, 1),
    Reduce("ReduceMin", 18, 2),
    Reduce("ReduceProd", 1, 1),
    Reduce("ReduceProd", 18, 2),
    Reduce("ReduceL1", 1, 1),
    Reduce("ReduceL1", 18, 2),
    Reduce("ReduceL2", 1, 1),
    Reduce("ReduceL2", 18, 2),
    Reduce("ReduceLogSum", 1, 1),
    Reduce("ReduceLogSum", 18, 2),
    Reduce("ReduceLogSumExp", 1, 1),
    Reduce("ReduceLogSumExp", 18, 2),
    Reduce("ReduceSumSquare", 1, 1),
    Reduce("ReduceSumSquare", 18, 2),
    Arg("ArgMax"),
    Arg("ArgMin"),
    {"CumSum", 11, 2, 2, 1, InferCumSum, CumSumBatch, false},
};

}  // namespace

absl::StatusOr<ReduceParams> ReadReduce(const NodeView& view) {
  ReduceParams params;
  const int input_since = view.op() == "ReduceSum" ? 13 : 18;
  REPRISE_ASSIGN_OR_RETURN(const AxesParam given, ReadAxes(view, input_since));
  REPRISE_ASSIGN_OR_RETURN(const int64_t keepdims,
                           view.attributes().Int("keepdims", 1));
  params.keepdims = keepdims != 0;
  if (!given.axes.empty()) {
    REPRISE_ASSIGN_OR_RETURN(params.axes,
                             NormalizeAxes(given.axes, view.rank(0)));
    if (view.rank(0) == 0) params.axes.clear();
    return params;
  }
  REPRISE_ASSIGN_OR_RETURN(const int64_t noop,
                           view.attributes().Int("noop_with_empty_axes", 0));
  if (noop != 0 && view.version() >= input_since) return params;
  params.axes.resize(view.dims(0).size());
  std::iota(params.axes.begin(), params.axes.end(), 0);
  return params;
}

absl::StatusOr<ArgParams> ReadArg(const NodeView& view) {
  ArgParams params;
  const graph::Attributes& attributes = view.attributes();
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis, attributes.Int("axis", 0));
  REPRISE_ASSIGN_OR_RETURN(params.axis, NormalizeAxis(axis, view.rank(0)));
  REPRISE_ASSIGN_OR_RETURN(const int64_t keepdims,
                           attributes.Int("keepdims", 1));
  REPRISE_ASSIGN_OR_RETURN(const int64_t last,
                           attributes.Int("select_last_index", 0));
  params.keepdims = keepdims != 0;
  params.select_last = last != 0 && view.version() >= 12;
  return params;
}

absl::StatusOr<CumSumParams> ReadCumSum(const NodeView& view) {
  CumSumParams params;
  REPRISE_ASSIGN_OR_RETURN(const std::vector<int64_t> axis,
                           ConstantInts(view, 1, "axis"));
  if (axis.size() != 1) return BadNode("input axis is not one integer");
  REPRISE_ASSIGN_OR_RETURN(params.axis, NormalizeAxis(axis[0], view.rank(0)));
  REPRISE_ASSIGN_OR_RETURN(const int64_t exclusive,
                           view.attributes().Int("exclusive", 0));
  REPRISE_ASSIGN_OR_RETURN(const int64_t reverse,
                           view.attributes().Int("reverse", 0));
  params.exclusive = exclusive != 0;
  params.reverse = reverse != 0;
  return params;
}

std::span<const Op> ReduceOps() { return kOps; }

}  // namespace reprise::ops
