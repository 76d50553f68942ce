#include "runtime/ops/reshape.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace reprise::ops {
namespace {

using Types = std::vector<TensorType>;

absl::StatusOr<Types> InferReshape(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const std::vector<int64_t> target,
                           ConstantInts(view, 1, "shape"));
  REPRISE_ASSIGN_OR_RETURN(const int64_t allowzero,
                           view.attributes().Int("allowzero", 0));
  REPRISE_ASSIGN_OR_RETURN(
      Dims dims, ResolveReshape(view.dims(0), target, allowzero != 0));
  return Types{{view.dtype(0), std::move(dims)}};
}

absl::StatusOr<Types> InferFlatten(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(int64_t axis, view.attributes().Int("axis", 1));
  const int64_t rank = view.rank(0);
  if (axis < -rank || axis > rank) {
    return BadNode(
        absl::StrCat("axis ", axis, " is out of range for rank ", rank));
  }
  if (axis < 0) axis += rank;
  const std::span<const int64_t> dims(view.dims(0).data(), view.dims(0).size());
  const size_t at = static_cast<size_t>(axis);
  REPRISE_ASSIGN_OR_RETURN(const int64_t outer, NumElements(dims.first(at)));
  REPRISE_ASSIGN_OR_RETURN(const int64_t inner, NumElements(dims.subspan(at)));
  return Types{{view.dtype(0), Dims{outer, inner}}};
}

absl::StatusOr<Types> InferSqueeze(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const AxesParam given, ReadAxes(view, 13));
  REPRISE_ASSIGN_OR_RETURN(const std::vector<int64_t> axes,
                           NormalizeAxes(given.axes, view.rank(0)));
  Dims dims;
  for (int64_t i = 0; i < view.rank(0); ++i) {
    const int64_t extent = view.dims(0)[static_cast<size_t>(i)];
    const bool named = std::binary_search(axes.begin(), axes.end(), i);
    if (named && extent != 1) {
      return BadNode(absl::StrCat("axis ", i, " of ", DimsText(view.dims(0)),
                                  " is not 1"));
    }
    if (!(given.has ? named : extent == 1)) dims.push_back(extent);
  }
  return Types{{view.dtype(0), std::move(dims)}};
}

absl::StatusOr<Types> InferUnsqueeze(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const AxesParam given, ReadAxes(view, 13));
  if (!given.has) return BadNode("axes are missing");
  const int64_t rank = view.rank(0) + static_cast<int64_t>(given.axes.size());
  REPRISE_ASSIGN_OR_RETURN(const std::vector<int64_t> axes,
                           NormalizeAxes(given.axes, rank));
  Dims dims;
  size_t next = 0;
  for (int64_t i = 0; i < rank; ++i) {
    const bool inserted = std::binary_search(axes.begin(), axes.end(), i);
    dims.push_back(inserted ? 1 : view.dims(0)[next++]);
  }
  return Types{{view.dtype(0), std::move(dims)}};
}

absl::StatusOr<Types> InferSame(const NodeView& view) {
  return Types{view.type(0)};
}

absl::StatusOr<Types> InferDropout(const NodeView& view) {
  REPRISE_RETURN_IF_ERROR(CheckDropout(view));
  if (!IsFloat(view.dtype(0))) {
    return NotRunHere(absl::StrCat("does not take ", DTypeName(view.dtype(0))));
  }
  // The mask: BOOL from opset 10 on, before that of the data's type.
  const DType mask = view.version() >= 10 ? DType::kBool : view.dtype(0);
  return Types{view.type(0), {mask, view.dims(0)}};
}

absl::StatusOr<Types> InferShape(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const ShapeParams params, ReadShape(view));
  return Types{{DType::kInt64, Dims{params.end - params.start}}};
}

absl::StatusOr<Types> InferSize(const NodeView& view) {
  REPRISE_RETURN_IF_ERROR(NumElements(view.dims(0)).status());
  return Types{{DType::kInt64, Dims{}}};
}

// Shape and Size are known as soon as the input is bound; whoever compares the
// two bindings never asks this rule.
absl::StatusOr<BatchState> ShapeBatch(const BatchView&) {
  return BatchState::Count();
}

// Squeeze without axes drops whatever is 1, so a batch of one row would lose
// its axis: the output's rank must not depend on the rows.
absl::StatusOr<BatchState> SqueezeBatch(const BatchView& view) {
  REPRISE_ASSIGN_OR_RETURN(const AxesParam given, ReadAxes(view.a, 13));
  const BatchState& in = view.inputs[0];
  if (!given.has && in.rows() && in.block == 1) {
    return MixesRows("drops the batch axis when there is one row");
  }
  return ReshapeBatch(view);
}

constexpr Op kOps[] = {
    {"Reshape", 5, 2, 2, 1, InferReshape, ReshapeBatch, true},
    {"Flatten", 1, 1, 1, 1, InferFlatten, ReshapeBatch, true},
    {"Squeeze", 1, 1, 1, 1, InferSqueeze, SqueezeBatch, true},
    {"Squeeze", 13, 1, 2, 1, InferSqueeze, SqueezeBatch, true},
    {"Unsqueeze", 1, 1, 1, 1, InferUnsqueeze, ReshapeBatch, true},
    {"Unsqueeze", 13, 2, 2, 1, InferUnsqueeze, ReshapeBatch, true},
    {"Identity", 1, 1, 1, 1, InferSame, ReshapeBatch, true},
    {"Dropout", 7, 1, 1, 2, InferDropout, ReshapeBatch, false},
    {"Dropout", 12, 1, 3, 2, InferDropout, ReshapeBatch, false},
    {"Shape", 1, 1, 1, 1, InferShape, ShapeBatch, true},
    {"Size", 1, 1, 1, 1, InferSize, ShapeBatch, true},
};

}  // namespace

absl::StatusOr<Dims> ResolveReshape(const Dims& input,
                                    const std::vector<int64_t>& target,
                                    bool allowzero) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t elements, NumElements(input));
  Dims out;
  int wild = -1;
  for (size_t i = 0; i < target.size(); ++i) {
    int64_t extent = target[i];
    if (extent == -1) {
      if (wild >= 0) {
        return BadNode(absl::StrCat("shape ", DimsText(target), " has two -1"));
      }
      wild = static_cast<int>(i);
      extent = 1;
    } else if (extent == 0 && !allowzero) {
      if (i >= input.size()) {
        return BadNode(absl::StrCat("shape ", DimsText(target), " copies axis ",
                                    i, " of ", DimsText(input)));
      }
      extent = input[i];
    } else if (extent < 0) {
      return BadNode(
          absl::StrCat("shape ", DimsText(target), " has a negative dim"));
    }
    out.push_back(extent);
  }
  REPRISE_ASSIGN_OR_RETURN(const int64_t known, NumElements(out));
  if (wild >= 0) {
    if (known == 0 ? elements != 0 : elements % known != 0) {
      return BadNode(
          absl::StrCat(DimsText(input), " cannot become ", DimsText(target)));
    }
    // With 0 elements any extent would do; 0 is what the reference gives.
    out[static_cast<size_t>(wild)] = known == 0 ? 0 : elements / known;
  } else if (known != elements) {
    return BadNode(
        absl::StrCat(DimsText(input), " cannot become ", DimsText(target)));
  }
  return out;
}

absl::StatusOr<ShapeParams> ReadShape(const NodeView& view) {
  const int64_t rank = view.rank(0);
  ShapeParams params{0, rank};
  if (view.version() >= 15) {
    REPRISE_ASSIGN_OR_RETURN(params.start, view.attributes().Int("start", 0));
    REPRISE_ASSIGN_OR_RETURN(params.end, view.attributes().Int("end", rank));
  }
  if (params.start < 0) params.start += rank;
  if (params.end < 0) params.end += rank;
  params.start = std::clamp<int64_t>(params.start, 0, rank);
  params.end = std::clamp<int64_t>(params.end, params.start, rank);
  return params;
}

absl::StatusOr<AxesParam> ReadAxes(const NodeView& view, int input_since) {
  AxesParam param;
  if (view.version() >= input_since) {
    param.has = view.Has(1);
    if (param.has) {
      REPRISE_ASSIGN_OR_RETURN(param.axes, ConstantInts(view, 1, "axes"));
    }
    return param;
  }
  param.has = view.attributes().Has("axes");
  REPRISE_ASSIGN_OR_RETURN(param.axes, view.attributes().Ints("axes", {}));
  return param;
}

absl::Status CheckDropout(const NodeView& view) {
  if (view.version() < 12 || !view.Has(2)) return absl::OkStatus();
  REPRISE_ASSIGN_OR_RETURN(const double training,
                           ConstantNumber(view, 2, "training_mode"));
  if (training != 0) return NotRunHere("training_mode is on");
  return absl::OkStatus();
}

std::span<const Op> ReshapeOps() { return kOps; }

}  // namespace reprise::ops
