#include "runtime/ops/layout.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/ops/elementwise.h"
#include "runtime/ops/reshape.h"

namespace reprise::ops {
namespace {

using Types = std::vector<TensorType>;

int64_t DimAt(const NodeView& view, size_t input, int64_t axis) {
  return view.dims(input)[static_cast<size_t>(axis)];
}

absl::StatusOr<Types> InferTranspose(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const std::vector<int64_t> perm,
                           ReadTransposePerm(view));
  TensorType out{view.dtype(0), {}};
  for (const int64_t axis : perm) out.dims.push_back(DimAt(view, 0, axis));
  return Types{out};
}

absl::StatusOr<Types> InferExpand(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const std::vector<int64_t> target,
                           ConstantInts(view, 1, "shape"));
  REPRISE_RETURN_IF_ERROR(NumElements(target).status());
  REPRISE_ASSIGN_OR_RETURN(
      Dims dims,
      BroadcastDims(view.dims(0), Dims(target.begin(), target.end())));
  return Types{{view.dtype(0), std::move(dims)}};
}

absl::StatusOr<Types> InferTile(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const std::vector<int64_t> repeats,
                           ReadTileRepeats(view));
  TensorType out = view.type(0);
  for (size_t i = 0; i < repeats.size(); ++i) {
    if (__builtin_mul_overflow(out.dims[i], repeats[i], &out.dims[i])) {
      return BadNode(
          absl::StrCat("repeats ", DimsText(repeats), " are too large"));
    }
  }
  REPRISE_RETURN_IF_ERROR(NumElements(out.dims).status());
  return Types{out};
}

absl::StatusOr<Types> InferConcat(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis, ReadConcatAxis(view));
  TensorType out = view.type(0);
  for (size_t i = 1; i < view.input_count(); ++i) {
    if (!view.Has(i)) return BadNode(absl::StrCat("input ", i, " is missing"));
    Dims expected = out.dims;
    if (view.rank(i) == view.rank(0)) {
      expected[static_cast<size_t>(axis)] = DimAt(view, i, axis);
    }
    if (view.dims(i) != expected || view.dtype(i) != out.dtype) {
      return BadNode(
          absl::StrCat("input ", i, ", ", DTypeName(view.dtype(i)), " ",
                       DimsText(view.dims(i)), ", does not fit input 0, ",
                       DTypeName(out.dtype), " ", DimsText(view.dims(0)),
                       ", along axis ", axis));
    }
    out.dims[static_cast<size_t>(axis)] += DimAt(view, i, axis);
  }
  REPRISE_RETURN_IF_ERROR(NumElements(out.dims).status());
  return Types{out};
}

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

absl::Status CheckIndices(const NodeView& view) {
  if (view.dtype(1) == DType::kInt64 || view.dtype(1) == DType::kInt32) {
    return absl::OkStatus();
  }
  return BadNode(absl::StrCat("indices are ", DTypeName(view.dtype(1)),
                              ", not INT64 or INT32"));
}

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
  REPRISE_RETURN_IF_ERROR(ReadGatherAxis(view).status());
  if (view.rank(0) != view.rank(1) || view.rank(0) == 0) {
    return BadNode(absl::StrCat("indices ", DimsText(view.dims(1)),
                                " do not have the rank of ",
                                DimsText(view.dims(0))));
  }
  return Types{{view.dtype(0), view.dims(1)}};
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

absl::StatusOr<Types> InferConstantOfShape(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const std::vector<int64_t> shape,
                           ConstantInts(view, 0, "shape"));
  REPRISE_RETURN_IF_ERROR(NumElements(shape).status());
  REPRISE_ASSIGN_OR_RETURN(const std::shared_ptr<const HostTensor> fill,
                           ReadFill(view));
  return Types{{fill->dtype(), Dims(shape.begin(), shape.end())}};
}

absl::StatusOr<Types> InferRange(const NodeView& view) {
  if (view.dtype(0) != view.dtype(1) || view.dtype(0) != view.dtype(2)) {
    return BadNode("start, limit and delta differ in datatype");
  }
  REPRISE_ASSIGN_OR_RETURN(const double start,
                           ConstantNumber(view, 0, "start"));
  REPRISE_ASSIGN_OR_RETURN(const double limit,
                           ConstantNumber(view, 1, "limit"));
  REPRISE_ASSIGN_OR_RETURN(const double delta,
                           ConstantNumber(view, 2, "delta"));
  const double count = std::ceil((limit - start) / delta);
  if (delta == 0 || !(count < 9e15)) {
    return BadNode(absl::StrCat("a range from ", start, " to ", limit, " by ",
                                delta, " has no end"));
  }
  return Types{
      {view.dtype(0), Dims{static_cast<int64_t>(std::max(0.0, count))}}};
}

absl::StatusOr<Types> InferDepthSpace(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const DepthSpaceParams params, ReadDepthSpace(view));
  TensorType out = view.type(0);
  Dims& d = out.dims;
  if (d.size() != 4) {
    return BadNode(absl::StrCat("input ", DimsText(d), " is not [N,C,H,W]"));
  }
  const int64_t block = params.block;
  if (view.op() == "DepthToSpace") {
    if (d[1] % (block * block) != 0) {
      return BadNode(
          absl::StrCat(d[1], " channels do not divide by ", block * block));
    }
    d = {d[0], d[1] / (block * block), d[2] * block, d[3] * block};
  } else {
    if (d[2] % block != 0 || d[3] % block != 0) {
      return BadNode(
          absl::StrCat(DimsText(d), " does not divide into blocks of ", block));
    }
    d = {d[0], d[1] * block * block, d[2] / block, d[3] / block};
  }
  return Types{out};
}

absl::StatusOr<Types> InferTrilu(const NodeView& view) {
  REPRISE_RETURN_IF_ERROR(ReadTrilu(view).status());
  if (view.rank(0) < 2) return BadNode("input has no matrix");
  if (view.dtype(0) == DType::kString) return NotRunHere("does not take BYTES");
  return Types{view.type(0)};
}

// ---- Batch rules.

absl::StatusOr<BatchState> TransposeBatch(const BatchView& view) {
  BatchState state = view.inputs[0];
  if (state.count()) return MixesRows("uses the number of rows as data");
  if (!state.rows()) return state;
  REPRISE_ASSIGN_OR_RETURN(const std::vector<int64_t> perm,
                           ReadTransposePerm(view.a));
  state.axis = std::find(perm.begin(), perm.end(), state.axis) - perm.begin();
  return state;
}

// A value that is the same for all rows and is spread over them by a shape.
absl::StatusOr<BatchState> ExpandBatch(const BatchView& view) {
  BatchState in = view.inputs[0];
  if (in.count()) return MixesRows("uses the number of rows as data");
  REPRISE_ASSIGN_OR_RETURN(const BatchState out, RowsByExtent(view));
  if (!in.rows()) return out;
  in.axis = AlignAxis(in.axis, view.a.rank(0),
                      static_cast<int64_t>(view.out_a[0]->dims.size()));
  return MergeRows(in, out);
}

// Input 0 keeps its rows where they are; the operator changes other axes only.
absl::StatusOr<BatchState> KeepRows(const BatchView& view) {
  const BatchState& in = view.inputs[0];
  if (in.count()) return MixesRows("uses the number of rows as data");
  REPRISE_ASSIGN_OR_RETURN(const BatchState out, RowsByExtent(view));
  if (in == out) return out;
  return MixesRows(absl::StrCat("changes the batch axis (", in.axis, ")"));
}

absl::StatusOr<BatchState> TileBatch(const BatchView& view) {
  const BatchState& in = view.inputs[0];
  REPRISE_ASSIGN_OR_RETURN(const std::vector<int64_t> repeats,
                           ReadTileRepeats(view.a));
  if (in.count()) return MixesRows("uses the number of rows as data");
  if (!in.rows()) {  // rows * block copies of the same
    REPRISE_ASSIGN_OR_RETURN(const BatchState out, RowsByExtent(view));
    const bool whole =
        !out.rows() || view.a.dims(0)[static_cast<size_t>(out.axis)] == 1;
    if (!whole && repeats[static_cast<size_t>(out.axis)] % view.rows_a != 0) {
      return MixesRows("tiles across rows");
    }
    return out;
  }
  if (repeats[static_cast<size_t>(in.axis)] != 1) {
    return MixesRows(absl::StrCat("repeats the batch axis (", in.axis, ")"));
  }
  return KeepRows(view);
}

absl::StatusOr<BatchState> ConcatBatch(const BatchView& view) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis, ReadConcatAxis(view.a));
  BatchState merged;
  for (const BatchState& in : view.inputs) {
    if (in.rows() && in.axis == axis) {
      return MixesRows(
          absl::StrCat("merges along the batch axis (", axis, ")"));
    }
    REPRISE_ASSIGN_OR_RETURN(merged, MergeRows(merged, in));
  }
  return merged;
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
  if (a.begins != b.begins || a.ends != b.ends ||
      (a.value < b.value || a.value > b.value)) {
    return MixesRows("pads by the number of rows");
  }
  return KeepRows(view);
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
  if (merged.rows() && merged.axis == axis && view.inputs[0].rows()) {
    return MixesRows(absl::StrCat("indexes the batch axis (", axis, ")"));
  }
  if (view.inputs[0].rows() && !view.inputs[1].rows()) {
    return MixesRows("indices do not vary by row");
  }
  return merged;
}

// Made from shapes alone: the same for every row.
absl::StatusOr<BatchState> FillBatch(const BatchView& view) {
  return RowsByExtent(view);
}

absl::StatusOr<BatchState> RangeBatch(const BatchView& view) {
  REPRISE_ASSIGN_OR_RETURN(const BatchState out, RowsByExtent(view));
  if (out.rows()) return MixesRows("counts the rows");
  for (const BatchState& in : view.inputs) {
    if (in.count()) return MixesRows("uses the number of rows as data");
  }
  return out;
}

absl::StatusOr<BatchState> DepthSpaceBatch(const BatchView& view) {
  if (view.inputs[0].rows() && view.inputs[0].axis != 0) {
    return MixesRows(
        absl::StrCat("the batch is on axis ", view.inputs[0].axis, ", not 0"));
  }
  return KeepRows(view);
}

absl::StatusOr<BatchState> TriluBatch(const BatchView& view) {
  if (view.inputs[0].rows() && view.inputs[0].axis >= view.a.rank(0) - 2) {
    return MixesRows("the batch is an axis of the matrix");
  }
  REPRISE_ASSIGN_OR_RETURN(const TriluParams a, ReadTrilu(view.a));
  REPRISE_ASSIGN_OR_RETURN(const TriluParams b, ReadTrilu(view.b));
  if (a.k != b.k) return MixesRows("cuts by the number of rows");
  return KeepRows(view);
}

constexpr Op kOps[] = {
    {"Transpose", 1, 1, 1, 1, InferTranspose, TransposeBatch, false},
    {"Expand", 8, 2, 2, 1, InferExpand, ExpandBatch, true},
    {"Tile", 6, 2, 2, 1, InferTile, TileBatch, false},
    {"Concat", 4, 1, kVariadic, 1, InferConcat, ConcatBatch, true},
    {"Split", 2, 1, 1, kVariadic, InferSplit, SplitBatch, false},
    {"Split", 13, 1, 2, kVariadic, InferSplit, SplitBatch, false},
    {"Slice", 1, 1, 1, 1, InferSlice, SliceBatch, false},
    {"Slice", 10, 3, 5, 1, InferSlice, SliceBatch, false},
    {"Gather", 1, 2, 2, 1, InferGather, GatherBatch, true},
    {"GatherElements", 11, 2, 2, 1, InferGatherElements, GatherElementsBatch,
     false},
    {"Pad", 2, 1, 1, 1, InferPad, PadBatch, false},
    {"Pad", 11, 2, 3, 1, InferPad, PadBatch, false},
    {"Pad", 18, 2, 4, 1, InferPad, PadBatch, false},
    {"ConstantOfShape", 9, 1, 1, 1, InferConstantOfShape, FillBatch, false},
    {"Range", 11, 3, 3, 1, InferRange, RangeBatch, false},
    {"DepthToSpace", 1, 1, 1, 1, InferDepthSpace, DepthSpaceBatch, false},
    {"SpaceToDepth", 1, 1, 1, 1, InferDepthSpace, DepthSpaceBatch, false},
    {"Trilu", 14, 1, 2, 1, InferTrilu, TriluBatch, false},
};

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

// One axis, numpy's way: [start, end) by `step`, clamped to `extent`.
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
    start = std::clamp<int64_t>(start, -1, extent - 1);
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

}  // namespace

absl::StatusOr<std::vector<int64_t>> ReadTransposePerm(const NodeView& view) {
  const size_t rank = view.dims(0).size();
  std::vector<int64_t> reversed(rank);
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  REPRISE_ASSIGN_OR_RETURN(std::vector<int64_t> perm,
                           view.attributes().Ints("perm", reversed));
  std::vector<int64_t> sorted = perm;
  std::sort(sorted.rbegin(), sorted.rend());
  if (sorted != reversed) {
    return BadNode(absl::StrCat("perm ", DimsText(perm),
                                " is no permutation of rank ", rank));
  }
  return perm;
}

absl::StatusOr<int64_t> ReadConcatAxis(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis, view.attributes().Int("axis"));
  if (view.rank(0) == 0) return BadNode("input 0 is a scalar");
  return NormalizeAxis(axis, view.rank(0));
}

absl::StatusOr<SplitParams> ReadSplit(const NodeView& view) {
  SplitParams params;
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis,
                           view.attributes().Int("axis", 0));
  if (view.rank(0) == 0) return BadNode("input 0 is a scalar");
  REPRISE_ASSIGN_OR_RETURN(params.axis, NormalizeAxis(axis, view.rank(0)));
  const int64_t extent = DimAt(view, 0, params.axis);
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
    SliceAxis(DimAt(view, 0, axis), raw.starts[i], raw.ends[i],
              std::clamp(raw.steps[i], -kFar, kFar), params,
              static_cast<size_t>(axis));
  }
  return params;
}

absl::StatusOr<int64_t> ReadGatherAxis(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis,
                           view.attributes().Int("axis", 0));
  return NormalizeAxis(axis, view.rank(0));
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
      REPRISE_ASSIGN_OR_RETURN(params.value,
                               ConstantNumber(view, 2, "constant_value"));
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

absl::StatusOr<std::vector<int64_t>> ReadTileRepeats(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(std::vector<int64_t> repeats,
                           ConstantInts(view, 1, "repeats"));
  const bool negative = std::any_of(repeats.begin(), repeats.end(),
                                    [](int64_t r) { return r < 0; });
  if (negative || repeats.size() != view.dims(0).size()) {
    return BadNode(absl::StrCat("repeats ", DimsText(repeats), " do not fit ",
                                DimsText(view.dims(0))));
  }
  return repeats;
}

absl::StatusOr<DepthSpaceParams> ReadDepthSpace(const NodeView& view) {
  DepthSpaceParams params;
  REPRISE_ASSIGN_OR_RETURN(params.block, view.attributes().Int("blocksize"));
  if (params.block < 1 || params.block > 65536) {
    return BadNode(absl::StrCat("blocksize is ", params.block));
  }
  REPRISE_ASSIGN_OR_RETURN(const std::string mode,
                           view.attributes().String("mode", "DCR"));
  if (mode != "DCR" && mode != "CRD") {
    return BadNode(absl::StrCat("mode '", mode, "' is not DCR or CRD"));
  }
  params.crd = mode == "CRD";
  return params;
}

absl::StatusOr<std::shared_ptr<const HostTensor>> ReadFill(
    const NodeView& view) {
  const graph::AttributeValue* value = view.attributes().Find("value");
  if (value == nullptr) {
    REPRISE_ASSIGN_OR_RETURN(HostTensor zero,
                             HostTensor::Create(DType::kFp32, {1}));
    return std::make_shared<const HostTensor>(std::move(zero));
  }
  const auto* tensor = std::get_if<std::shared_ptr<const HostTensor>>(value);
  if (tensor == nullptr || *tensor == nullptr || (*tensor)->elements() != 1) {
    return BadNode("attribute 'value' is not a tensor of one element");
  }
  return *tensor;
}

absl::StatusOr<TriluParams> ReadTrilu(const NodeView& view) {
  TriluParams params;
  REPRISE_ASSIGN_OR_RETURN(const int64_t upper,
                           view.attributes().Int("upper", 1));
  params.upper = upper != 0;
  if (view.Has(1)) {
    REPRISE_ASSIGN_OR_RETURN(const std::vector<int64_t> k,
                             ConstantInts(view, 1, "k"));
    if (k.size() != 1) return BadNode("input k is not one integer");
    params.k = k[0];
  }
  return params;
}

std::span<const Op> LayoutOps() { return kOps; }

}  // namespace reprise::ops
