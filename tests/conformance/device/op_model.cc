#include "tests/conformance/device/op_model.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/cpu/evaluate.h"
#include "runtime/ops/infer_signature.h"
#include "runtime/ops/node_view.h"
#include "runtime/ops/op_table.h"
#include "tests/conformance/device/op_values.h"

namespace reprise::conformance {
namespace {

using graph::Graph;
using graph::ValueId;

bool HasRows(const Operand& operand) {
  return operand.from != From::kNowhere && !operand.dims.empty() &&
         operand.dims[0] == kFreeDim;
}

bool IsBatched(const OpCase& one) {
  return std::ranges::any_of(one.operands, HasRows);
}

// Elements of a row of the largest operand.
int64_t ElementsOf(const OpCase& one) {
  int64_t most = 0;
  for (const Operand& operand : one.operands) {
    Dims dims = operand.dims;
    if (HasRows(operand)) dims[0] = 1;
    most = std::max(most, ElementCount(dims));
  }
  return most;
}

class ModelWriter {
 public:
  ModelWriter(const OpGroup& group, bool batched, int max_rows)
      : group_(group), max_rows_(max_rows) {
    model_.batched = batched;
  }

  void Add(const OpCase& one) {
    const std::string name = absl::StrCat(model_.cases.size(), ": ", one.name);
    graph::Node node = NodeOf(one.version, group_.row->op, name);
    for (const auto& [key, value] : one.attributes) {
      node.attributes.Set(key, value);
    }
    model_.operands.emplace_back();
    for (size_t i = 0; i < one.operands.size(); ++i) {
      node.inputs.push_back(
          AddOperand(one.operands[i], absl::StrCat(name, " operand ", i)));
    }
    for (int k = 0; k < one.outputs; ++k) {
      const ValueId id = AddValue(absl::StrCat(name, " output ", k));
      node.outputs.push_back(id);
      graph_.outputs.push_back(id);
    }
    node.index = static_cast<int>(graph_.nodes.size());
    graph_.nodes.push_back(std::move(node));
    model_.cases.push_back(&one);
  }

  absl::StatusOr<OpModel> Finish() {
    if (model_.cases.empty()) return std::move(model_);
    REPRISE_ASSIGN_OR_RETURN(ops::InferredSignature inferred,
                             ops::InferSignature(graph_, {}));
    if (inferred.signature.batched != model_.batched) {
      return absl::InternalError(
          absl::StrCat("not batched as it should be: ", inferred.not_batched));
    }
    model_.signature = std::move(inferred.signature);
    model_.signature.max_batch = model_.batched ? max_rows_ : 1;
    model_.graph = std::make_shared<const Graph>(std::move(graph_));
    return std::move(model_);
  }

 private:
  static graph::Node NodeOf(int version, absl::string_view op,
                            absl::string_view name) {
    graph::Node node;
    node.op = std::string(op);
    node.version = version;
    node.name = std::string(name);
    return node;
  }

  ValueId AddValue(std::string name) {
    graph_.values.emplace_back();
    graph_.values.back().name = std::move(name);
    return static_cast<ValueId>(graph_.values.size()) - 1;
  }

  ValueId AddOperand(const Operand& operand, const std::string& name) {
    auto& operands = model_.operands.back();
    if (operand.from == From::kNowhere) {
      operands.push_back(nullptr);
      return graph::kNoValue;
    }
    const auto seed = static_cast<unsigned>(graph_.values.size() + 1);
    operands.push_back(std::make_shared<const HostTensor>(
        MakeOperand(operand, max_rows_, seed)));
    const ValueId id = AddValue(name);
    graph::Value& value = graph_.values.back();
    value.dtype = operand.dtype;
    value.has_shape = true;
    value.dims = operand.dims;
    value.symbols.assign(value.dims.size(), "");
    if (HasRows(operand)) value.symbols[0] = std::string("N");
    if (operand.from == From::kWeight) {
      value.constant = operands.back();
      return id;
    }
    graph_.inputs.push_back(id);
    model_.inputs.push_back({model_.operands.size() - 1, operands.size() - 1});
    return operand.from == From::kShape ? AddShape(id, name) : id;
  }

  ValueId AddShape(ValueId of, const std::string& name) {
    graph::Node node =
        NodeOf(group_.row->version, "Shape", absl::StrCat(name, " shape"));
    node.inputs = {of};
    node.outputs = {AddValue(absl::StrCat(name, " shape"))};
    node.index = static_cast<int>(graph_.nodes.size());
    graph_.nodes.push_back(node);
    return node.outputs[0];
  }

  const OpGroup& group_;
  const int max_rows_;
  OpModel model_;
  Graph graph_;
};

// Operand `i` of a case as the node sees it with `rows` rows.
HostTensor OperandAt(const OpModel& model, size_t one, size_t i, int rows) {
  const Operand& operand = model.cases[one]->operands[i];
  const HostTensor& whole = *model.operands[one][i];
  Dims dims = whole.dims();
  const bool has_rows = HasRows(operand);
  const int max_rows = has_rows ? static_cast<int>(dims[0]) : 1;
  if (has_rows) dims[0] = rows;
  if (operand.from == From::kShape) {
    HostTensor shape =
        HostTensor::Create(DType::kInt64, {static_cast<int64_t>(dims.size())})
            .value();
    std::ranges::copy(dims, shape.values<int64_t>().begin());
    return shape;
  }
  HostTensor tensor = HostTensor::Create(operand.dtype, dims).value();
  std::ranges::copy(RowsOf(whole, has_rows, rows, max_rows),
                    tensor.bytes().begin());
  return tensor;
}

absl::StatusOr<std::vector<HostTensor>> Evaluate(const OpModel& model,
                                                 const OpGroup& group,
                                                 size_t at, int rows) {
  const OpCase& one = *model.cases[at];
  graph::Node node;
  node.op = std::string(group.row->op);
  node.version = one.version;
  for (const auto& [key, value] : one.attributes) {
    node.attributes.Set(key, value);
  }
  std::vector<HostTensor> tensors;
  for (size_t i = 0; i < one.operands.size(); ++i) {
    tensors.push_back(model.operands[at][i] == nullptr
                          ? HostTensor()
                          : OperandAt(model, at, i, rows));
  }
  std::vector<ops::TensorType> types;
  for (const HostTensor& tensor : tensors) {
    types.push_back({tensor.dtype(), tensor.dims()});
  }
  ops::NodeView view;
  for (size_t i = 0; i < one.operands.size(); ++i) {
    const bool there = model.operands[at][i] != nullptr;
    view.types.push_back(there ? &types[i] : nullptr);
    view.constants.push_back(there ? &tensors[i] : nullptr);
    node.inputs.push_back(there ? static_cast<int>(i) : graph::kNoValue);
  }
  for (int k = 0; k < one.outputs; ++k) {
    node.outputs.push_back(static_cast<int>(one.operands.size()) + k);
  }
  view.node = &node;
  REPRISE_ASSIGN_OR_RETURN(const ops::Op* op,
                           ops::FindOp("", node.op, node.version));
  REPRISE_ASSIGN_OR_RETURN(std::vector<ops::TensorType> outputs,
                           op->infer(view));
  outputs.resize(static_cast<size_t>(one.outputs));
  return cpu::EvaluateNode(view, outputs);
}

}  // namespace

std::span<const std::byte> RowsOf(const HostTensor& tensor, bool batched,
                                  int rows, int max_rows) {
  const std::span<const std::byte> bytes = tensor.bytes();
  if (!batched) return bytes;
  return bytes.first(bytes.size() / static_cast<size_t>(max_rows) *
                     static_cast<size_t>(rows));
}

absl::StatusOr<OpModels> MakeOpModels(const OpGroup& group, int max_rows,
                                      const OpFilter& filter) {
  ModelWriter batched(group, true, max_rows);
  ModelWriter fixed(group, false, max_rows);
  for (const OpCase& one : group.cases) {
    if (ElementsOf(one) > filter.max_elements) continue;
    if (filter.narrow && one.fp32_only) continue;
    (IsBatched(one) ? batched : fixed).Add(one);
  }
  OpModels models;
  REPRISE_ASSIGN_OR_RETURN(models.batched, batched.Finish());
  REPRISE_ASSIGN_OR_RETURN(models.fixed, fixed.Finish());
  return models;
}

absl::StatusOr<std::vector<HostTensor>> ByPlainLoops(const OpModel& model,
                                                     const OpGroup& group,
                                                     int rows) {
  std::vector<HostTensor> outputs;
  for (size_t i = 0; i < model.cases.size(); ++i) {
    REPRISE_ASSIGN_OR_RETURN(std::vector<HostTensor> some,
                             Evaluate(model, group, i, rows));
    for (HostTensor& tensor : some) outputs.push_back(std::move(tensor));
  }
  return outputs;
}

}  // namespace reprise::conformance
