#include "runtime/cpu/lowering_context.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/tensor/shape.h"

namespace reprise::cpu {
namespace {

Kernel CopyKernel(int64_t bytes) {
  return {[bytes](const KernelArgs& args) {
    std::copy_n(args.inputs[0], bytes, args.outputs[0]);
  }};
}

}  // namespace

LoweringContext::LoweringContext(const ops::BoundGraph& bound,
                                 std::shared_ptr<OneDnn> dnn, Weights& weights)
    : bound_(bound),
      dnn_(std::move(dnn)),
      weights_(weights),
      states_(bound.graph->values.size()) {
  const graph::Graph& graph = *bound.graph;
  for (int k = 0; k < static_cast<int>(graph.inputs.size()); ++k) {
    const graph::ValueId value = graph.inputs[k];
    states_[value].plain = AddBuffer({.name = NameOf(value),
                                      .bytes = BytesOf(value),
                                      .place = plan::Place::kInput,
                                      .index = k});
  }
  for (int k = static_cast<int>(graph.outputs.size()) - 1; k >= 0; --k) {
    states_[graph.outputs[k]].output = k;
  }
}

const std::string& LoweringContext::NameOf(graph::ValueId value) const {
  return bound_.graph->values[value].name;
}

int64_t LoweringContext::BytesOf(graph::ValueId value) const {
  const ops::TensorType& type = bound_.types[value];
  // Bind has checked the product.
  return NumBytes(type.dtype, type.dims).value_or(0);
}

plan::BufferId LoweringContext::AddBuffer(plan::Buffer buffer) {
  program_.plan.buffers.push_back(std::move(buffer));
  return static_cast<plan::BufferId>(program_.plan.buffers.size()) - 1;
}

plan::BufferId LoweringContext::AddConstant(std::string name,
                                            const std::byte* data,
                                            int64_t bytes) {
  program_.constants.push_back(data);
  return AddBuffer({.name = std::move(name),
                    .bytes = bytes,
                    .place = plan::Place::kConstant,
                    .index = static_cast<int>(program_.constants.size()) - 1});
}

void LoweringContext::AddStep(std::string name, Kernel kernel,
                              std::vector<plan::BufferId> reads,
                              std::vector<plan::BufferId> writes) {
  program_.plan.steps.push_back({.name = std::move(name),
                                 .reads = std::move(reads),
                                 .writes = std::move(writes),
                                 .scratch_bytes = kernel.scratch_bytes});
  program_.kernels.push_back(std::move(kernel));
}

absl::StatusOr<plan::BufferId> LoweringContext::Plain(graph::ValueId value) {
  if (states_[value].plain != plan::kNoBuffer) return states_[value].plain;
  if (const auto& constant = bound_.constants[value]; constant != nullptr) {
    program_.owned.push_back(constant);
    states_[value].plain =
        AddConstant(NameOf(value), constant->bytes().data(),
                    static_cast<int64_t>(constant->bytes().size()));
    return states_[value].plain;
  }
  if (!IsBlocked(value)) {
    return absl::InternalError(
        absl::StrCat("value '", NameOf(value), "' is read before it is made"));
  }
  const Layout layout = states_[value].layouts[0].first;
  const plan::BufferId source = states_[value].layouts[0].second;
  const plan::BufferId plain = Define(value);
  REPRISE_RETURN_IF_ERROR(Guarded("reordering", [&] {
    AddStep("Reorder",
            ReorderKernel(dnn_, layout, PlainLayout(bound_.types[value].dims)),
            {source}, {plain});
  }));
  return plain;
}

absl::StatusOr<Layout> LoweringContext::MadeIn(graph::ValueId value) const {
  Layout layout;
  if (IsBlocked(value)) return states_[value].layouts[0].first;
  REPRISE_RETURN_IF_ERROR(Guarded(
      "layout", [&] { layout = PlainLayout(bound_.types[value].dims); }));
  return layout;
}

bool LoweringContext::IsBlocked(graph::ValueId value) const {
  return states_[value].blocked;
}

absl::StatusOr<plan::BufferId> LoweringContext::In(graph::ValueId value,
                                                   const Layout& layout) {
  Layout plain;
  REPRISE_RETURN_IF_ERROR(Guarded(
      "layout", [&] { plain = PlainLayout(bound_.types[value].dims); }));
  if (SameLayout(layout, plain)) return Plain(value);
  for (const auto& [have, id] : states_[value].layouts) {
    if (SameLayout(have, layout)) return id;
  }
  Layout from = plain;
  plan::BufferId source = plan::kNoBuffer;
  if (IsBlocked(value)) {
    std::tie(from, source) = states_[value].layouts[0];
  } else {
    REPRISE_ASSIGN_OR_RETURN(source, Plain(value));
  }
  const plan::BufferId copy =
      AddBuffer({.name = absl::StrCat(NameOf(value), "#",
                                      states_[value].layouts.size() + 1),
                 .bytes = static_cast<int64_t>(layout.get_size())});
  REPRISE_RETURN_IF_ERROR(Guarded("reordering", [&] {
    AddStep("Reorder", ReorderKernel(dnn_, from, layout), {source}, {copy});
  }));
  states_[value].layouts.emplace_back(layout, copy);
  return copy;
}

plan::BufferId LoweringContext::Define(graph::ValueId value) {
  State& state = states_[value];
  plan::Buffer buffer{.name = NameOf(value), .bytes = BytesOf(value)};
  if (state.output >= 0) {
    buffer.place = plan::Place::kOutput;
    buffer.index = state.output;
  }
  state.plain = AddBuffer(std::move(buffer));
  return state.plain;
}

plan::BufferId LoweringContext::DefineIn(graph::ValueId value,
                                         const Layout& layout) {
  if (SameLayout(layout, PlainLayout(bound_.types[value].dims))) {
    return Define(value);
  }
  const plan::BufferId id =
      AddBuffer({.name = absl::StrCat(NameOf(value), "#1"),
                 .bytes = static_cast<int64_t>(layout.get_size())});
  states_[value].blocked = true;
  states_[value].layouts.emplace_back(layout, id);
  return id;
}

absl::Status LoweringContext::DefineView(graph::ValueId value,
                                         graph::ValueId of) {
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId source, Plain(of));
  State& state = states_[value];
  state.plain = AddBuffer(
      {.name = NameOf(value), .bytes = BytesOf(value), .alias = source});
  plan::Buffer& root = program_.plan.buffers[plan::Root(program_.plan, source)];
  if (state.output >= 0 && root.place == plan::Place::kArena &&
      root.bytes == BytesOf(value)) {
    root.place = plan::Place::kOutput;
    root.index = state.output;
  }
  return absl::OkStatus();
}

absl::Status LoweringContext::FillOutput(int k) {
  const graph::ValueId value = bound_.graph->outputs[k];
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId plain, Plain(value));
  const plan::Buffer& root =
      program_.plan.buffers[plan::Root(program_.plan, plain)];
  if (root.place == plan::Place::kOutput && root.index == k) {
    return absl::OkStatus();
  }
  const plan::BufferId target =
      AddBuffer({.name = absl::StrCat(NameOf(value), "#out"),
                 .bytes = BytesOf(value),
                 .place = plan::Place::kOutput,
                 .index = k});
  AddStep("Copy", CopyKernel(BytesOf(value)), {plain}, {target});
  return absl::OkStatus();
}

absl::StatusOr<Program> LoweringContext::Finish() {
  for (int k = 0; k < static_cast<int>(bound_.graph->outputs.size()); ++k) {
    REPRISE_RETURN_IF_ERROR(FillOutput(k));
  }
  return std::move(program_);
}

}  // namespace reprise::cpu
