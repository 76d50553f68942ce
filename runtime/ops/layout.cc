#include "runtime/ops/layout.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/ops/elementwise.h"

namespace reprise::ops {
namespace {

using Types = std::vector<TensorType>;

absl::StatusOr<Types> InferTranspose(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const std::vector<int64_t> perm,
                           ReadTransposePerm(view));
  TensorType out{view.dtype(0), {}};
  for (const int64_t axis : perm) out.dims.push_back(view.dim(0, axis));
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
      expected[static_cast<size_t>(axis)] = view.dim(i, axis);
    }
    if (view.dims(i) != expected || view.dtype(i) != out.dtype) {
      return BadNode(
          absl::StrCat("input ", i, ", ", DTypeName(view.dtype(i)), " ",
                       DimsText(view.dims(i)), ", does not fit input 0, ",
                       DTypeName(out.dtype), " ", DimsText(view.dims(0)),
                       ", along axis ", axis));
    }
    out.dims[static_cast<size_t>(axis)] += view.dim(i, axis);
  }
  REPRISE_RETURN_IF_ERROR(NumElements(out.dims).status());
  return Types{out};
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
    {"DepthToSpace", 1, 1, 1, 1, InferDepthSpace, DepthSpaceBatch, false},
    {"SpaceToDepth", 1, 1, 1, 1, InferDepthSpace, DepthSpaceBatch, false},
    {"Trilu", 14, 1, 2, 1, InferTrilu, TriluBatch, false},
};

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
