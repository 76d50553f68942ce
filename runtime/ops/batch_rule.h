// How a node carries the batch from its inputs to its outputs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/ops/bound_graph.h"
#include "runtime/ops/node_view.h"

namespace reprise::ops {

// Where the rows of a batch are in a value.
//   kFixed: the value is the same for every batch.
//   kRows:  axis `axis` has rows * block elements, row r at [r * block, ...).
//   kCount: known before the graph runs and different for another number of
//           rows: shapes, counts. Good for shaping, never as data.
struct BatchState {
  enum class Kind { kFixed, kRows, kCount };
  Kind kind = Kind::kFixed;
  int64_t axis = 0;
  int64_t block = 1;

  static BatchState Fixed() { return {}; }
  static BatchState Count() { return {Kind::kCount, 0, 1}; }
  static BatchState Rows(int64_t axis, int64_t block) {
    return {Kind::kRows, axis, block};
  }
  bool rows() const { return kind == Kind::kRows; }
  bool count() const { return kind == Kind::kCount; }
  bool operator==(const BatchState&) const = default;
};

// One node bound at two numbers of rows. States and types are by input and
// output position; those of absent ones are kFixed and null.
struct BatchView {
  NodeView a;
  NodeView b;
  std::vector<BatchState> inputs;
  std::vector<const TensorType*> out_a;
  std::vector<const TensorType*> out_b;
  int64_t rows_a = 0;
  int64_t rows_b = 0;
};

// The state of every output of a node. FAILED_PRECONDITION: it mixes rows; the
// message says how.
using BatchFn = absl::StatusOr<BatchState> (*)(const BatchView&);

absl::Status MixesRows(absl::string_view what);

// Rules that families share.

// Every input but the first is a parameter and must not carry rows.
absl::Status OnlyInputZeroHasRows(const BatchView& view);

// Numpy broadcasting of all inputs.
absl::StatusOr<BatchState> BroadcastBatch(const BatchView& view);

// Input 0 keeps its bytes in row-major order (Reshape and its like); further
// inputs only shape it.
absl::StatusOr<BatchState> ReshapeBatch(const BatchView& view);

// Input 0 keeps its rows where they are: the operator changes other axes only.
// Further inputs shape it.
absl::StatusOr<BatchState> KeepRows(const BatchView& view);

// The rows of output 0, found by the one axis whose extent differs between the
// two bindings. kFixed when none does.
absl::StatusOr<BatchState> RowsByExtent(const BatchView& view);

// Right-aligned broadcasting: the output axis of an input's `axis`.
inline int64_t AlignAxis(int64_t axis, int64_t rank, int64_t out_rank) {
  return axis + out_rank - rank;
}

// Both carry rows in the same place, or one of them does not carry any.
absl::StatusOr<BatchState> MergeRows(const BatchState& x, const BatchState& y);

}  // namespace reprise::ops
