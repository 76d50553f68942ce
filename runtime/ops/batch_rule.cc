#include "runtime/ops/batch_rule.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace reprise::ops {
namespace {

int64_t PrefixProduct(const Dims& dims, int64_t axis) {
  int64_t product = 1;
  for (int64_t i = 0; i < axis; ++i) product *= dims[static_cast<size_t>(i)];
  return product;
}

}  // namespace

absl::Status MixesRows(absl::string_view what) {
  return absl::FailedPreconditionError(what);
}

absl::Status OnlyInputZeroHasRows(const BatchView& view) {
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    if (view.inputs[i].count()) {
      return MixesRows("uses the number of rows as data");
    }
    if (i > 0 && view.inputs[i].rows()) {
      return MixesRows(absl::StrCat("input ", i, " varies by row"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<BatchState> MergeRows(const BatchState& x, const BatchState& y) {
  if (x.count() || y.count()) {
    return MixesRows("uses the number of rows as data");
  }
  if (!x.rows()) return y;
  if (!y.rows() || x == y) return x;
  return MixesRows(absl::StrCat("merges a batch on axis ", x.axis,
                                " with one on axis ", y.axis,
                                x.block == y.block ? "" : " in other blocks"));
}

absl::StatusOr<BatchState> BroadcastBatch(const BatchView& view) {
  const int64_t out_rank = static_cast<int64_t>(view.out_a[0]->dims.size());
  BatchState merged;
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    BatchState state = view.inputs[i];
    if (state.rows()) {
      state.axis = AlignAxis(state.axis, view.a.rank(i), out_rank);
    }
    REPRISE_ASSIGN_OR_RETURN(merged, MergeRows(merged, state));
  }
  return merged;
}

absl::StatusOr<BatchState> RowsByExtent(const BatchView& view) {
  const Dims& a = view.out_a[0]->dims;
  const Dims& b = view.out_b[0]->dims;
  if (a.size() != b.size()) {
    return MixesRows("the rank of the output depends on the number of rows");
  }
  BatchState state;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (state.rows()) {
      return MixesRows("several axes depend on the number of rows");
    }
    const int64_t block = a[i] / view.rows_a;
    if (block < 1 || a[i] != block * view.rows_a ||
        b[i] != block * view.rows_b) {
      return MixesRows(absl::StrCat("axis ", i, " has ", a[i], " elements for ",
                                    view.rows_a, " rows and ", b[i], " for ",
                                    view.rows_b));
    }
    state = BatchState::Rows(static_cast<int64_t>(i), block);
  }
  return state;
}

absl::StatusOr<BatchState> KeepRows(const BatchView& view) {
  const BatchState& in = view.inputs[0];
  if (in.count()) return MixesRows("uses the number of rows as data");
  REPRISE_ASSIGN_OR_RETURN(const BatchState out, RowsByExtent(view));
  if (in == out) return out;
  return MixesRows(absl::StrCat("changes the batch axis (", in.axis, ")"));
}

absl::StatusOr<BatchState> ReshapeBatch(const BatchView& view) {
  const BatchState& in = view.inputs[0];
  if (in.count()) return MixesRows("uses the number of rows as data");
  if (!in.rows()) return BatchState::Fixed();
  REPRISE_ASSIGN_OR_RETURN(const BatchState out, RowsByExtent(view));
  const int64_t before_a = PrefixProduct(view.a.dims(0), in.axis);
  if (!out.rows() || PrefixProduct(view.out_a[0]->dims, out.axis) != before_a ||
      PrefixProduct(view.out_b[0]->dims, out.axis) != before_a) {
    return MixesRows(absl::StrCat(
        "moves elements across rows: ", DimsText(view.a.dims(0)),
        " with the batch on axis ", in.axis, " becomes ",
        DimsText(view.out_a[0]->dims), ", and ", DimsText(view.b.dims(0)),
        " becomes ", DimsText(view.out_b[0]->dims)));
  }
  return out;
}

}  // namespace reprise::ops
