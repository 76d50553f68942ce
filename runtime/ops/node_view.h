// One node together with what is known of its inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/graph/graph.h"
#include "runtime/ops/bound_graph.h"
#include "runtime/tensor/host_tensor.h"

namespace reprise::ops {

// What shape rules, parameter readers and folding work on. Borrows the node,
// the types and the constants. An input may be absent (optional), typed, or
// typed and known.
struct NodeView {
  const graph::Node* node = nullptr;
  absl::InlinedVector<const TensorType*, 4> types;      // null: absent
  absl::InlinedVector<const HostTensor*, 4> constants;  // null: not known

  size_t input_count() const { return types.size(); }
  bool Has(size_t i) const { return i < types.size() && types[i] != nullptr; }
  // Only where Has(i).
  const TensorType& type(size_t i) const { return *types[i]; }
  const Dims& dims(size_t i) const { return types[i]->dims; }
  int64_t dim(size_t i, int64_t axis) const {
    return types[i]->dims[static_cast<size_t>(axis)];
  }
  int64_t rank(size_t i) const {
    return static_cast<int64_t>(types[i]->dims.size());
  }
  DType dtype(size_t i) const { return types[i]->dtype; }
  // Null where the input is absent or not known before it is computed.
  const HostTensor* constant(size_t i) const {
    return i < constants.size() ? constants[i] : nullptr;
  }
  absl::string_view op() const { return node->op; }
  int version() const { return node->version; }
  const graph::Attributes& attributes() const { return node->attributes; }
};

// The view of `bound.graph->nodes[node]`; lives as long as `bound`.
NodeView ViewOf(const BoundGraph& bound, int node);

// Builds one error about `view`'s node: readers return it, callers that walk a
// graph put NodeText in front.
absl::Status BadNode(absl::string_view what);     // INVALID_ARGUMENT
absl::Status NotRunHere(absl::string_view what);  // UNIMPLEMENTED

// `axis` counted from the front: [-rank, rank) -> [0, rank). INVALID_ARGUMENT
// otherwise. A rank of 0 takes 0 and -1 as axis 0.
absl::StatusOr<int64_t> NormalizeAxis(int64_t axis, int64_t rank);

// Each of `axes` normalised, sorted; a repeated axis is INVALID_ARGUMENT.
absl::StatusOr<std::vector<int64_t>> NormalizeAxes(
    const std::vector<int64_t>& axes, int64_t rank);

// The integers of INT32 or INT64 input `i`. UNIMPLEMENTED if they are not known
// before the graph runs (a data-dependent shape); `what` names the input.
absl::StatusOr<std::vector<int64_t>> ConstantInts(const NodeView& view,
                                                  size_t i,
                                                  absl::string_view what);

// The elements of input `i`, of any numeric dtype or BOOL; errors likewise.
absl::StatusOr<std::vector<double>> ConstantNumbers(const NodeView& view,
                                                    size_t i,
                                                    absl::string_view what);

// The same for an input of one element.
absl::StatusOr<double> ConstantNumber(const NodeView& view, size_t i,
                                      absl::string_view what);

}  // namespace reprise::ops
