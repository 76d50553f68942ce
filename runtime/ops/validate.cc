#include "runtime/ops/validate.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/ops/node_view.h"
#include "runtime/ops/op_table.h"

namespace reprise::ops {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;

absl::Status ValidateNode(const Node& node) {
  REPRISE_ASSIGN_OR_RETURN(const Op* op,
                           FindOp(node.domain, node.op, node.version));
  const int inputs = static_cast<int>(node.inputs.size());
  const int outputs = static_cast<int>(node.outputs.size());
  if (inputs < op->min_inputs || inputs > op->max_inputs) {
    return BadNode(absl::StrCat("has ", inputs, " inputs; opset ", node.version,
                                " takes ", op->min_inputs,
                                op->max_inputs == kVariadic ? " or more"
                                : op->max_inputs == op->min_inputs
                                    ? ""
                                    : absl::StrCat(" to ", op->max_inputs)));
  }
  if (outputs < 1 || outputs > op->max_outputs) {
    return BadNode(absl::StrCat("has ", outputs, " outputs; opset ",
                                node.version, " gives 1",
                                op->max_outputs == 1 ? "" : " or more"));
  }
  for (int i = 0; i < op->min_inputs; ++i) {
    if (node.inputs[static_cast<size_t>(i)] == kNoValue) {
      return BadNode(absl::StrCat("input ", i, " is missing"));
    }
  }
  return absl::OkStatus();
}

// Operators whose STRING input does not make a STRING output.
bool OnlyAsksForDims(const Node& node) {
  return node.op == "Shape" || node.op == "Size";
}

}  // namespace

absl::Status Validate(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    REPRISE_RETURN_IF_ERROR(
        Annotate(ValidateNode(node), graph::NodeText(node)));
  }
  return absl::OkStatus();
}

absl::Status CheckStrings(const Graph& graph) {
  std::vector<bool> is_string(graph.values.size(), false);
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const graph::Value& value = graph.values[i];
    if (value.constant != nullptr) {
      is_string[i] = value.constant->dtype() == DType::kString;
    }
  }
  for (const ValueId id : graph.inputs) {
    const size_t at = static_cast<size_t>(id);
    is_string[at] = graph.values[at].dtype == DType::kString;
  }
  for (const Node& node : graph.nodes) {
    bool reads = false;
    for (const ValueId id : node.inputs) {
      reads = reads || (id != kNoValue && is_string[static_cast<size_t>(id)]);
    }
    if (!reads) continue;
    const absl::StatusOr<const Op*> op =
        FindOp(node.domain, node.op, node.version);
    if (!op.ok()) return Annotate(op.status(), graph::NodeText(node));
    if (!(*op)->strings) {
      return Annotate(
          NotRunHere("BYTES tensors may only pass through Identity, Reshape, "
                     "Flatten, Squeeze, Unsqueeze, Expand, Concat and Gather"),
          graph::NodeText(node));
    }
    for (const ValueId id : node.outputs) {
      if (id == kNoValue || OnlyAsksForDims(node)) continue;
      is_string[static_cast<size_t>(id)] = true;
    }
  }
  return absl::OkStatus();
}

}  // namespace reprise::ops
