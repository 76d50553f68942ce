#include "tests/testing/one_node.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/cpu/evaluate.h"
#include "runtime/ops/node_view.h"
#include "runtime/ops/op_table.h"

namespace reprise::testing {

HostTensor F32(Dims dims, const std::vector<float>& values) {
  return TensorOf(DType::kFp32, std::move(dims), values);
}
HostTensor I64(Dims dims, const std::vector<int64_t>& values) {
  return TensorOf(DType::kInt64, std::move(dims), values);
}
HostTensor I32(Dims dims, const std::vector<int32_t>& values) {
  return TensorOf(DType::kInt32, std::move(dims), values);
}

HostTensor Noise(Dims dims, unsigned seed) {
  HostTensor tensor = HostTensor::Create(DType::kFp32, std::move(dims)).value();
  Sequence sequence(seed);
  for (float& value : tensor.values<float>()) value = sequence.NextFloat();
  return tensor;
}

absl::StatusOr<std::vector<HostTensor>> OneNode::Evaluate() const {
  graph::Node one = node;
  std::vector<ops::TensorType> types(inputs.size());
  ops::NodeView view;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] != nullptr) {
      types[i] = {inputs[i]->dtype(), inputs[i]->dims()};
    }
    view.types.push_back(inputs[i] != nullptr ? &types[i] : nullptr);
    view.constants.push_back(inputs[i].get());
    one.inputs.push_back(inputs[i] != nullptr ? static_cast<int>(i)
                                              : graph::kNoValue);
  }
  for (int k = 0; k < outputs; ++k) {
    one.outputs.push_back(static_cast<int>(inputs.size()) + k);
  }
  view.node = &one;
  REPRISE_ASSIGN_OR_RETURN(const ops::Op* op,
                           ops::FindOp("", one.op, one.version));
  REPRISE_ASSIGN_OR_RETURN(std::vector<ops::TensorType> made, op->infer(view));
  made.resize(static_cast<size_t>(outputs));
  return cpu::EvaluateNode(view, made);
}

OneNodeGraph OneNode::MakeGraph(const std::set<size_t>& weights) const {
  OneNodeGraph made;
  graph::Graph& graph = made.graph;
  graph::Node one = node;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) {
      one.inputs.push_back(graph::kNoValue);
      continue;
    }
    graph::Value value;
    value.name = absl::StrCat("in", i);
    value.dtype = inputs[i]->dtype();
    value.has_shape = true;
    value.dims = inputs[i]->dims();
    value.symbols.assign(value.dims.size(), "");
    const auto id = static_cast<graph::ValueId>(graph.values.size());
    if (weights.contains(i)) {
      value.constant = inputs[i];
    } else {
      graph.inputs.push_back(id);
      made.signature.inputs.push_back(
          {value.name, value.dtype, value.dims, value.symbols});
      made.slot_inputs.push_back(
          const_cast<std::byte*>(inputs[i]->bytes().data()));  // NOLINT
    }
    one.inputs.push_back(id);
    graph.values.push_back(std::move(value));
  }
  for (int k = 0; k < outputs; ++k) {
    const auto id = static_cast<graph::ValueId>(graph.values.size());
    graph.values.emplace_back();
    graph.values.back().name = absl::StrCat("out", k);
    one.outputs.push_back(id);
    graph.outputs.push_back(id);
  }
  graph.nodes.push_back(std::move(one));
  return made;
}

}  // namespace reprise::testing
