#include "runtime/cuda/lowering_context.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/ops/launch.h"
#include "runtime/tensor/shape.h"

namespace reprise::cuda {

LoweringContext::LoweringContext(const ops::BoundGraph& bound,
                                 CudaWeights& weights,
                                 const LoweringOptions& options)
    : bound_(bound),
      weights_(weights),
      options_(options),
      consumers_(graph::Consumers(*bound.graph)),
      states_(bound.graph->values.size()) {
  const graph::Graph& graph = *bound.graph;
  for (int k = 0; k < static_cast<int>(graph.inputs.size()); ++k) {
    const graph::ValueId value = graph.inputs[static_cast<size_t>(k)];
    State& state = StateOf(value);
    state.slot_input = AddBuffer({.name = NameOf(value),
                                  .bytes = BytesOf(value, ModelType(value)),
                                  .place = plan::Place::kInput,
                                  .index = k});
    if (TypeOf(value) == ModelType(value)) state.stored = state.slot_input;
  }
  for (int k = static_cast<int>(graph.outputs.size()) - 1; k >= 0; --k) {
    StateOf(graph.outputs[static_cast<size_t>(k)]).output = k;
  }
}

LoweringContext::State& LoweringContext::StateOf(graph::ValueId value) {
  return states_[graph::At(value)];
}

const std::string& LoweringContext::NameOf(graph::ValueId value) const {
  return bound_.graph->values[graph::At(value)].name;
}

const Dims& LoweringContext::DimsOf(graph::ValueId value) const {
  return bound_.types[graph::At(value)].dims;
}

DType LoweringContext::ModelType(graph::ValueId value) const {
  return bound_.types[graph::At(value)].dtype;
}

DType LoweringContext::StoredAs(DType dtype) const {
  if (dtype != DType::kFp32) return dtype;
  switch (options_.precision) {
    case Precision::kFp32:
    case Precision::kTf32:
      return DType::kFp32;
    case Precision::kFp16:
      return DType::kFp16;
    case Precision::kBf16:
      return DType::kBf16;
  }
  return dtype;
}

DType LoweringContext::TypeOf(graph::ValueId value) const {
  return StoredAs(ModelType(value));
}

int64_t LoweringContext::BytesOf(graph::ValueId value, DType dtype) const {
  // Bind has checked the product.
  return NumBytes(dtype, DimsOf(value)).value_or(0);
}

plan::BufferId LoweringContext::AddBuffer(plan::Buffer buffer) {
  program_.plan.buffers.push_back(std::move(buffer));
  return static_cast<plan::BufferId>(program_.plan.buffers.size()) - 1;
}

plan::BufferId LoweringContext::AddConstant(std::string name, int index) {
  return AddBuffer({.name = std::move(name),
                    .bytes = weights_.entry(index).bytes,
                    .place = plan::Place::kConstant,
                    .index = index});
}

void LoweringContext::AddStep(std::string name, std::vector<Action> actions,
                              std::vector<plan::BufferId> reads,
                              std::vector<plan::BufferId> writes,
                              int64_t scratch_bytes) {
  program_.plan.steps.push_back({.name = std::move(name),
                                 .reads = std::move(reads),
                                 .writes = std::move(writes),
                                 .scratch_bytes = scratch_bytes});
  program_.steps.push_back(std::move(actions));
}

void LoweringContext::AddCast(graph::ValueId value, plan::BufferId from,
                              DType from_type, plan::BufferId to,
                              DType to_type) {
  AddStep("Cast",
          {CastLaunch({from}, from_type, {to}, to_type,
                      ElementCount(DimsOf(value)))},
          {from}, {to});
}

void LoweringContext::AddModule(GeneratedModule module) {
  for (const GeneratedModule& have : program_.modules) {
    if (have.name == module.name) return;
  }
  program_.modules.push_back(std::move(module));
}

absl::StatusOr<plan::BufferId> LoweringContext::ReadConstant(
    graph::ValueId value, DType as) {
  const auto& constant = bound_.constants[graph::At(value)];
  REPRISE_ASSIGN_OR_RETURN(const int index, weights_.Add(constant, as));
  return AddConstant(NameOf(value), index);
}

absl::StatusOr<plan::BufferId> LoweringContext::Read(graph::ValueId value) {
  State& state = StateOf(value);
  if (state.stored != plan::kNoBuffer) return state.stored;
  if (bound_.constants[graph::At(value)] != nullptr) {
    REPRISE_ASSIGN_OR_RETURN(state.stored, ReadConstant(value, TypeOf(value)));
    return state.stored;
  }
  if (state.slot_input == plan::kNoBuffer) {
    return absl::InternalError(
        absl::StrCat("value '", NameOf(value), "' is read before it is made"));
  }
  const DType stored = TypeOf(value);
  state.stored = AddBuffer({.name = absl::StrCat(NameOf(value), "#stored"),
                            .bytes = BytesOf(value, stored)});
  AddCast(value, state.slot_input, ModelType(value), state.stored, stored);
  return state.stored;
}

plan::BufferId LoweringContext::Define(graph::ValueId value) {
  if (value == graph::kNoValue) return plan::kNoBuffer;
  State& state = StateOf(value);
  plan::Buffer buffer{.name = NameOf(value),
                      .bytes = BytesOf(value, TypeOf(value))};
  if (state.output >= 0 && TypeOf(value) == ModelType(value)) {
    buffer.place = plan::Place::kOutput;
    buffer.index = state.output;
  }
  state.stored = AddBuffer(std::move(buffer));
  return state.stored;
}

absl::Status LoweringContext::DefineView(graph::ValueId value,
                                         graph::ValueId of) {
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId source, Read(of));
  State& state = StateOf(value);
  const int64_t bytes = BytesOf(value, TypeOf(value));
  state.stored =
      AddBuffer({.name = NameOf(value), .bytes = bytes, .alias = source});
  plan::Buffer& root =
      program_.plan
          .buffers[static_cast<size_t>(plan::Root(program_.plan, source))];
  if (state.output >= 0 && TypeOf(value) == ModelType(value) &&
      root.place == plan::Place::kArena && root.bytes == bytes) {
    root.place = plan::Place::kOutput;
    root.index = state.output;
  }
  return absl::OkStatus();
}

bool LoweringContext::IsForProductsAlone(graph::ValueId value) const {
  if (states_[graph::At(value)].output >= 0) return false;
  for (const int reader : consumers_[graph::At(value)]) {
    const auto at = static_cast<size_t>(reader);
    const graph::Node& node = bound_.graph->nodes[at];
    if (!bound_.live[at]) continue;
    if (node.op != "MatMul" ||
        (node.inputs.size() > 2 && node.inputs[2] == value)) {
      return false;
    }
  }
  return true;
}

absl::Status LoweringContext::FillOutput(int k) {
  const graph::ValueId value = bound_.graph->outputs[static_cast<size_t>(k)];
  const DType model_type = ModelType(value);
  DType type = model_type;
  plan::BufferId from = StateOf(value).slot_input;
  if (from == plan::kNoBuffer &&
      bound_.constants[graph::At(value)] != nullptr) {
    REPRISE_ASSIGN_OR_RETURN(from, ReadConstant(value, model_type));
  } else if (from == plan::kNoBuffer) {
    REPRISE_ASSIGN_OR_RETURN(from, Read(value));
    type = TypeOf(value);
  }
  const plan::Buffer& root =
      program_.plan
          .buffers[static_cast<size_t>(plan::Root(program_.plan, from))];
  if (root.place == plan::Place::kOutput && root.index == k) {
    return absl::OkStatus();
  }
  const int64_t bytes = BytesOf(value, model_type);
  const plan::BufferId target =
      AddBuffer({.name = absl::StrCat(NameOf(value), "#out"),
                 .bytes = bytes,
                 .place = plan::Place::kOutput,
                 .index = k});
  if (type != model_type) {
    AddCast(value, from, type, target, model_type);
  } else {
    AddStep("Copy", {Copy{{from}, {target}, bytes}}, {from}, {target});
  }
  return absl::OkStatus();
}

absl::StatusOr<Program> LoweringContext::Finish() {
  for (int k = 0; k < static_cast<int>(bound_.graph->outputs.size()); ++k) {
    REPRISE_RETURN_IF_ERROR(FillOutput(k));
  }
  return std::move(program_);
}

}  // namespace reprise::cuda
