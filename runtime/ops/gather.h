// Gather, GatherElements and GatherND: elements chosen by indices.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/ops/node_view.h"
#include "runtime/ops/op.h"

// Indices may be negative; an index out of range is the run's concern.
namespace reprise::ops {

// Gather's (and GatherElements', ScatterElements') axis in [0, rank).
absl::StatusOr<int64_t> ReadGatherAxis(const NodeView& view);

// Input 1 holds indices: INT64 or INT32.
absl::Status CheckIndices(const NodeView& view);

// Input 1 has the rank of input 0 and no axis but `axis` is longer: elsewhere
// an index's own position chooses the element.
absl::Status CheckIndexDims(const NodeView& view, int64_t axis);

// GatherND's and ScatterND's: the first `batch` axes of data and indices go
// together (GatherND only), the next `depth` axes of the data are indexed by
// the last axis of the indices.
struct NdParams {
  int64_t batch = 0;
  int64_t depth = 0;
};
absl::StatusOr<NdParams> ReadNd(const NodeView& view);

// The family's rows of the table.
std::span<const Op> GatherOps();

}  // namespace reprise::ops
