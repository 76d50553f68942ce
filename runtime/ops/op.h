// One row of the operator table.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/ops/batch_rule.h"
#include "runtime/ops/bound_graph.h"
#include "runtime/ops/node_view.h"

namespace reprise::ops {

// The type of each output of a node whose input types are known. Reads and
// checks attributes on the way; errors do not name the node.
using InferFn = absl::StatusOr<std::vector<TensorType>> (*)(const NodeView&);

inline constexpr int kVariadic = 1 << 20;

// An operator from opset `since` on, until the next row of the same name. What
// changed between opsets within a row is the readers' business.
struct Op {
  absl::string_view name;
  int since = 1;
  int min_inputs = 1;
  int max_inputs = 1;
  int max_outputs = 1;
  InferFn infer = nullptr;
  BatchFn batch = nullptr;
  bool strings = false;  // passes STRING through
};

}  // namespace reprise::ops
