#include "runtime/ops/slice.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace reprise::ops {
namespace {

using Types = std::vector<TensorType>;

absl::StatusOr<Types> InferSplit(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const SplitParams params, ReadSplit(view));
  Types types(params.sizes.size(), view.type(0));
  for (size_t i = 0; i < types.size(); ++i) {
    types[i].dims[static_cast<size_t>(params.axis)] = params.sizes[i];
  }
  return types;
}

absl::StatusOr<Types> InferSlice(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const SliceParams params, ReadSlice(view));
  return Types{
      {view.dtype(0), Dims(params.extents.begin(), params.extents.end())}};
}

absl::StatusOr<Types> InferPad(const NodeView& view) {
  if (view.dtype(0) == DType::kString) {
    return NotRunHere("does not take BYTES");
  }
  REPRISE_ASSIGN_OR_RETURN(const PadParams params, ReadPad(view));
  TensorType out = view.type(0);
  for (size_t i = 0; i < out.dims.size(); ++i) {
    const int64_t extent = out.dims[i];
    const int64_t longest = std::max(params.begins[i], params.ends[i]);
    if ((params.mode == PadMode::kReflect && longest >= extent) ||
        (params.mode == PadMode::kWrap && longest > extent)) {
      if (longest > 0) {
        return BadNode(absl::StrCat("axis ", i, " of ", extent,
                                    " elements cannot be padded by ", longest,
                                    " of its own"));
      }
    }
    if (params.mode == PadMode::kEdge && longest > 0 && extent == 0) {
      return BadNode(absl::StrCat("axis ", i, " has no edge to repeat"));
    }
    if (__builtin_add_overflow(out.dims[i], params.begins[i], &out.dims[i]) ||
        __builtin_add_overflow(out.dims[i], params.ends[i], &out.dims[i]) ||
        out.dims[i] < 0) {
      return BadNode(absl::StrCat("pads of axis ", i, " do not fit its ",
                                  extent, " elements"));
    }
  }
  REPRISE_RETURN_IF_ERROR(NumElements(out.dims).status());
  return Types{out};
}

absl::StatusOr<BatchState> SplitBatch(const BatchView& view) {
  REPRISE_ASSIGN_OR_RETURN(const SplitParams params, ReadSplit(view.a));
  REPRISE_ASSIGN_OR_RETURN(const SplitParams other, ReadSplit(view.b));
  if (view.inputs[0].rows() && view.inputs[0].axis == params.axis) {
    return MixesRows(absl::StrCat("splits the batch axis (", params.axis, ")"));
  }
  if (params.sizes != other.sizes)
    return MixesRows("splits by the number of rows");
  return KeepRows(view);
}

absl::StatusOr<BatchState> SliceBatch(const BatchView& view) {
  const BatchState& in = view.inputs[0];
  REPRISE_ASSIGN_OR_RETURN(const SliceParams a, ReadSlice(view.a));
  REPRISE_ASSIGN_OR_RETURN(const SliceParams b, ReadSlice(view.b));
  if (in.rows()) {
    const size_t axis = static_cast<size_t>(in.axis);
    const bool whole = a.starts[axis] == 0 && a.steps[axis] == 1 &&
                       a.extents[axis] == view.a.dims(0)[axis] &&
                       b.extents[axis] == view.b.dims(0)[axis];
    if (!whole) {
      return MixesRows(
          absl::StrCat("cuts rows out of the batch axis (", in.axis, ")"));
    }
  }
  if (a.starts != b.starts || a.steps != b.steps) {
    return MixesRows("cuts by the number of rows");
  }
  return KeepRows(view);
}

absl::StatusOr<BatchState> PadBatch(const BatchView& view) {
  REPRISE_ASSIGN_OR_RETURN(const PadParams a, ReadPad(view.a));
  REPRISE_ASSIGN_OR_RETURN(const PadParams b, ReadPad(view.b));
  if (view.inputs.size() > 2 && a.computed &&
      (view.inputs[2].rows() || view.inputs[2].count())) {
    return MixesRows("the value to pad with varies by row");
  }
  if (a.begins != b.begins || a.ends != b.ends || a.computed != b.computed ||
      (a.value < b.value || a.value > b.value)) {
    return MixesRows("pads by the number of rows");
  }
  if (const BatchState& in = view.inputs[0]; in.rows()) {
    const size_t axis = static_cast<size_t>(in.axis);
    // Pads that cancel out move the rows.
    if (a.begins[axis] != 0 || a.ends[axis] != 0) {
      return MixesRows(absl::StrCat("pads the batch axis (", in.axis, ")"));
    }
  }
  return KeepRows(view);
}

absl::Status ReadPadValue(const NodeView& view, PadParams& params) {
  if (view.dtype(2) != view.dtype(0)) {
    return BadNode(absl::StrCat("constant_value is ", DTypeName(view.dtype(2)),
                                ", not ", DTypeName(view.dtype(0))));
  }
  REPRISE_ASSIGN_OR_RETURN(const int64_t elements, NumElements(view.dims(2)));
  if (elements == 0) return absl::OkStatus();  // as if it were absent
  if (elements != 1) {
    return BadNode(absl::StrCat("constant_value has ", elements, " elements"));
  }
  params.computed = view.constant(2) == nullptr;
  if (params.computed) return absl::OkStatus();
  REPRISE_ASSIGN_OR_RETURN(params.value,
                           ConstantNumber(view, 2, "constant_value"));
  return absl::OkStatus();
}

// Slice's four lists before they are resolved.
struct RawSlice {
  std::vector<int64_t> starts, ends, axes, steps;
};

absl::StatusOr<RawSlice> ReadRawSlice(const NodeView& view) {
  RawSlice raw;
  if (view.version() < 10) {
    const graph::Attributes& attributes = view.attributes();
    REPRISE_ASSIGN_OR_RETURN(raw.starts, attributes.Ints("starts", {}));
    REPRISE_ASSIGN_OR_RETURN(raw.ends, attributes.Ints("ends", {}));
    REPRISE_ASSIGN_OR_RETURN(raw.axes, attributes.Ints("axes", {}));
  } else {
    REPRISE_ASSIGN_OR_RETURN(raw.starts, ConstantInts(view, 1, "starts"));
    REPRISE_ASSIGN_OR_RETURN(raw.ends, ConstantInts(view, 2, "ends"));
    if (view.Has(3)) {
      REPRISE_ASSIGN_OR_RETURN(raw.axes, ConstantInts(view, 3, "axes"));
    }
    if (view.Has(4)) {
      REPRISE_ASSIGN_OR_RETURN(raw.steps, ConstantInts(view, 4, "steps"));
    }
  }
  const size_t count = raw.starts.size();
  if (raw.axes.empty()) {
    raw.axes.resize(count);
    std::iota(raw.axes.begin(), raw.axes.end(), 0);
  }
  if (raw.steps.empty()) raw.steps.assign(count, 1);
  if (raw.ends.size() != count || raw.axes.size() != count ||
      raw.steps.size() != count) {
    return BadNode(absl::StrCat("starts, ends, axes and steps have ", count,
                                ", ", raw.ends.size(), ", ", raw.axes.size(),
                                " and ", raw.steps.size(), " entries"));
  }
  return raw;
}

// One axis: [start, end) by `step`, clamped to `extent`. Unlike numpy's, a
// start before the first element is the first one for negative steps too.
void SliceAxis(int64_t extent, int64_t start, int64_t end, int64_t step,
               SliceParams& params, size_t axis) {
  if (start < 0) start = start < -extent ? -1 : start + extent;
  if (end < 0) end = end < -extent ? -1 : end + extent;
  int64_t count = 0;
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, extent);
    end = std::clamp<int64_t>(end, 0, extent);
    if (end > start) count = (end - start - 1) / step + 1;
  } else {
    start = extent == 0 ? -1 : std::clamp<int64_t>(start, 0, extent - 1);
    end = std::clamp<int64_t>(end, -1, extent - 1);
    if (start > end) count = (start - end - 1) / -step + 1;
  }
  params.starts[axis] = count == 0 ? 0 : start;
  params.steps[axis] = step;
  params.extents[axis] = count;
}

absl::StatusOr<PadMode> ReadPadMode(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const std::string mode,
                           view.attributes().String("mode", "constant"));
  if (mode == "constant") return PadMode::kConstant;
  if (mode == "edge") return PadMode::kEdge;
  if (mode == "reflect") return PadMode::kReflect;
  if (mode == "wrap" && view.version() >= 19) return PadMode::kWrap;
  return BadNode(absl::StrCat("mode '", mode, "' is not defined"));
}

constexpr Op kOps[] = {
    {"Split", 2, 1, 1, kVariadic, InferSplit, SplitBatch, false},
    {"Split", 13, 1, 2, kVariadic, InferSplit, SplitBatch, false},
    {"Slice", 1, 1, 1, 1, InferSlice, SliceBatch, false},
    {"Slice", 10, 3, 5, 1, InferSlice, SliceBatch, false},
    {"Pad", 2, 1, 1, 1, InferPad, PadBatch, false},
    {"Pad", 11, 2, 3, 1, InferPad, PadBatch, false},
    {"Pad", 18, 2, 4, 1, InferPad, PadBatch, false},
};

}  // namespace

absl::StatusOr<SplitParams> ReadSplit(const NodeView& view) {
  SplitParams params;
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis,
                           view.attributes().Int("axis", 0));
  if (view.rank(0) == 0) return BadNode("input 0 is a scalar");
  REPRISE_ASSIGN_OR_RETURN(params.axis, NormalizeAxis(axis, view.rank(0)));
  const int64_t extent = view.dim(0, params.axis);
  const int64_t outputs = static_cast<int64_t>(view.node->outputs.size());
  if (view.version() < 13) {
    REPRISE_ASSIGN_OR_RETURN(params.sizes, view.attributes().Ints("split", {}));
  } else if (view.Has(1)) {
    REPRISE_ASSIGN_OR_RETURN(params.sizes, ConstantInts(view, 1, "split"));
  }
  if (params.sizes.empty()) {
    REPRISE_ASSIGN_OR_RETURN(const int64_t parts,
                             view.attributes().Int("num_outputs", outputs));
    if (parts != outputs) {
      return BadNode(
          absl::StrCat("num_outputs is ", parts, ", but there are ", outputs));
    }
    const bool uneven =
        view.version() >= 18 && view.attributes().Has("num_outputs");
    if (!uneven && extent % outputs != 0) {
      return BadNode(absl::StrCat("axis ", params.axis, " of ", extent,
                                  " elements does not split into ", outputs));
    }
    const int64_t part = (extent + outputs - 1) / outputs;
    int64_t left = extent;  // the last part takes what is left
    for (int64_t i = 0; i < outputs; ++i) {
      params.sizes.push_back(std::min(part, left));
      left -= params.sizes.back();
    }
  }
  int64_t sum = 0;
  bool negative = false;
  for (const int64_t size : params.sizes) {
    negative = negative || size < 0 || size > extent;
    sum += negative ? 0 : size;
  }
  if (static_cast<int64_t>(params.sizes.size()) != outputs || negative ||
      sum != extent) {
    return BadNode(absl::StrCat("split ", DimsText(params.sizes), " of axis ",
                                params.axis, " does not fit ", extent,
                                " elements and ", outputs, " outputs"));
  }
  return params;
}

absl::StatusOr<SliceParams> ReadSlice(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const RawSlice raw, ReadRawSlice(view));
  const Dims& dims = view.dims(0);
  if (dims.empty() && !raw.axes.empty()) return BadNode("input 0 is a scalar");
  REPRISE_RETURN_IF_ERROR(NormalizeAxes(raw.axes, view.rank(0)).status());
  SliceParams params;
  params.starts.assign(dims.size(), 0);
  params.steps.assign(dims.size(), 1);
  params.extents.assign(dims.begin(), dims.end());
  for (size_t i = 0; i < raw.axes.size(); ++i) {
    REPRISE_ASSIGN_OR_RETURN(const int64_t axis,
                             NormalizeAxis(raw.axes[i], view.rank(0)));
    if (raw.steps[i] == 0) return BadNode("a step is 0");
    // Steps beyond any extent mean "one element"; the clamp keeps -step exact.
    constexpr int64_t kFar = int64_t{1} << 62;
    SliceAxis(view.dim(0, axis), raw.starts[i], raw.ends[i],
              std::clamp(raw.steps[i], -kFar, kFar), params,
              static_cast<size_t>(axis));
  }
  return params;
}

absl::StatusOr<PadParams> ReadPad(const NodeView& view) {
  PadParams params;
  REPRISE_ASSIGN_OR_RETURN(params.mode, ReadPadMode(view));
  std::vector<int64_t> pads;
  std::vector<int64_t> axes(view.dims(0).size());
  std::iota(axes.begin(), axes.end(), 0);
  if (view.version() < 11) {
    REPRISE_ASSIGN_OR_RETURN(pads, view.attributes().Ints("pads", {}));
    REPRISE_ASSIGN_OR_RETURN(params.value, view.attributes().Float("value", 0));
  } else {
    REPRISE_ASSIGN_OR_RETURN(pads, ConstantInts(view, 1, "pads"));
    if (view.Has(2) && params.mode == PadMode::kConstant) {
      REPRISE_RETURN_IF_ERROR(ReadPadValue(view, params));
    }
    if (view.version() >= 18 && view.Has(3)) {
      REPRISE_ASSIGN_OR_RETURN(axes, ConstantInts(view, 3, "axes"));
    }
  }
  if (pads.size() != 2 * axes.size()) {
    return BadNode(absl::StrCat("pads ", DimsText(pads), " are not two for ",
                                axes.size(), " axes"));
  }
  REPRISE_RETURN_IF_ERROR(NormalizeAxes(axes, view.rank(0)).status());
  params.begins.assign(view.dims(0).size(), 0);
  params.ends.assign(view.dims(0).size(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    REPRISE_ASSIGN_OR_RETURN(const int64_t axis,
                             NormalizeAxis(axes[i], view.rank(0)));
    params.begins[static_cast<size_t>(axis)] = pads[i];
    params.ends[static_cast<size_t>(axis)] = pads[i + axes.size()];
  }
  return params;
}

std::span<const Op> SliceOps() { return kOps; }

}  // namespace reprise::ops
