#include "runtime/cpu/cpu_lowering.h"

#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/cpu/lowering_context.h"
#include "runtime/cpu/ops/lower.h"
#include "runtime/cpu/work.h"
#include "runtime/graph/graph.h"
#include "runtime/ops/node_view.h"
#include "runtime/plan/memory_plan.h"

namespace reprise::cpu {
namespace {

// First that fits wins; where a list ends, the plain loop follows.
struct Choice {
  absl::string_view op;
  LowerFn lower;
};
constexpr Choice kOneDnn[] = {
    {"Conv", LowerConvOneDnn},
    {"MatMul", LowerMatMulOneDnn},
    {"Gemm", LowerGemmOneDnn},
    {"MaxPool", LowerPoolOneDnn},
    {"AveragePool", LowerPoolOneDnn},
    {"GlobalMaxPool", LowerPoolOneDnn},
    {"GlobalAveragePool", LowerPoolOneDnn},
    {"Softmax", LowerSoftmaxOneDnn},
    {"LogSoftmax", LowerSoftmaxOneDnn},
    {"LayerNormalization", LowerLayerNormOneDnn},
    {"BatchNormalization", LowerBatchNormOneDnn},
    {"LRN", LowerLrnOneDnn},
    {"Relu", LowerUnaryOneDnn},
    {"LeakyRelu", LowerUnaryOneDnn},
    {"Elu", LowerUnaryOneDnn},
    {"Clip", LowerUnaryOneDnn},
    {"Sigmoid", LowerUnaryOneDnn},
    {"Tanh", LowerUnaryOneDnn},
    {"Exp", LowerUnaryOneDnn},
    {"Softplus", LowerUnaryOneDnn},
    {"Mish", LowerUnaryOneDnn},
    {"HardSwish", LowerUnaryOneDnn},
    {"Gelu", LowerUnaryOneDnn},
    {"Add", LowerBinaryOneDnn},
    {"Sum", LowerBinaryOneDnn},
    {"Sub", LowerBinaryOneDnn},
    {"Mul", LowerBinaryOneDnn},
    {"Div", LowerBinaryOneDnn},
    {"Concat", LowerConcatOneDnn},
};
constexpr Choice kAlways[] = {
    {"Identity", LowerView}, {"Reshape", LowerView},   {"Flatten", LowerView},
    {"Squeeze", LowerView},  {"Unsqueeze", LowerView}, {"Dropout", LowerView},
};

// In EstimateWork's unit: work of well under a millisecond on one core, where
// waking other threads at each step costs more than they save.
constexpr int64_t kMinSharedWork = 4'000'000;

// A library computes products at the speed of the machine, but pools hardly
// faster than a plain loop. What else there is takes memory for its work.
absl::Status CheckNodeWork(const LoweringContext& context,
                           const ops::NodeView& view) {
  const graph::Node& node = *view.node;
  if (node.outputs.empty() || node.outputs[0] == graph::kNoValue) {
    return absl::OkStatus();
  }
  const bool pool = node.op == "MaxPool" || node.op == "AveragePool";
  return CheckWork(view, {&context.bound().types[node.outputs[0]], 1},
                   pool ? kMaxPlainWork : kMaxLibraryWork);
}

absl::Status LowerNode(LoweringContext& context, const ops::NodeView& view,
                       const LoweringOptions& options) {
  REPRISE_RETURN_IF_ERROR(CheckNodeWork(context, view));
  const auto ask = [&](std::span<const Choice> choices) {
    for (const Choice& choice : choices) {
      if (choice.op != view.op()) continue;
      absl::Status status = choice.lower(context, view);
      if (!absl::IsUnimplemented(status)) return status;
    }
    return absl::UnimplementedError("");
  };
  if (absl::Status status = ask(kAlways); !absl::IsUnimplemented(status)) {
    return status;
  }
  if (options.use_onednn) {
    if (absl::Status status = ask(kOneDnn); !absl::IsUnimplemented(status)) {
      return status;
    }
  }
  return LowerPlain(context, view, options.tables);
}

int64_t WorkOf(const ops::BoundGraph& bound, int i) {
  const graph::Node& node = bound.graph->nodes[i];
  if (node.outputs.empty() || node.outputs[0] == graph::kNoValue) return 0;
  return NodeWork(ops::ViewOf(bound, i), {&bound.types[node.outputs[0]], 1});
}

}  // namespace

bool AllFp32(const LoweringContext& context, const ops::NodeView& view) {
  for (size_t i = 0; i < view.input_count(); ++i) {
    if (!view.Has(i)) continue;
    if (view.dtype(i) != DType::kFp32 || ElementCount(view.dims(i)) == 0)
      return false;
  }
  for (const graph::ValueId id : view.node->outputs) {
    if (id == graph::kNoValue) continue;
    const ops::TensorType& type = context.bound().types[id];
    if (type.dtype != DType::kFp32 || ElementCount(type.dims) == 0)
      return false;
  }
  return true;
}

absl::Status LowerView(LoweringContext& context, const ops::NodeView& view) {
  const graph::Node& node = *view.node;
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != graph::kNoValue) {
      return ops::NotRunHere("a second output must be computed");
    }
  }
  return context.DefineView(node.outputs[0], node.inputs[0]);
}

absl::Status LowerPlain(LoweringContext& context, const ops::NodeView& view,
                        TableBudget* tables) {
  const graph::Node& node = *view.node;
  std::vector<ops::TensorType> outputs;
  for (const graph::ValueId id : node.outputs) {
    outputs.push_back(id == graph::kNoValue ? ops::TensorType()
                                            : context.bound().types[id]);
  }
  REPRISE_ASSIGN_OR_RETURN(Kernel kernel,
                           MakePlainKernel({view, outputs, tables}));
  std::vector<plan::BufferId> reads;
  for (const graph::ValueId id : node.inputs) {
    plan::BufferId read = plan::kNoBuffer;
    if (id != graph::kNoValue) {
      REPRISE_ASSIGN_OR_RETURN(read, context.Plain(id));
    }
    reads.push_back(read);
  }
  std::vector<plan::BufferId> writes;
  for (const graph::ValueId id : node.outputs) {
    writes.push_back(id == graph::kNoValue ? plan::kNoBuffer
                                           : context.Define(id));
  }
  context.AddStep(node.op, std::move(kernel), std::move(reads),
                  std::move(writes));
  return absl::OkStatus();
}

absl::StatusOr<Program> Lower(const ops::BoundGraph& bound,
                              const std::shared_ptr<OneDnn>& dnn,
                              Weights& weights,
                              const LoweringOptions& options) {
  const int64_t work = EstimateWork(bound);
  const int threads = work < kMinSharedWork ? 1 : options.threads;
  const ThreadsScope scope(threads);
  LoweringContext context(bound, dnn, weights);
  for (int i = 0; i < static_cast<int>(bound.graph->nodes.size()); ++i) {
    if (!bound.live[i]) continue;
    const ops::NodeView view = ops::ViewOf(bound, i);
    if (const absl::Status status = LowerNode(context, view, options);
        !status.ok()) {
      return Annotate(status, graph::NodeText(bound.graph->nodes[i]));
    }
  }
  REPRISE_ASSIGN_OR_RETURN(Program program, context.Finish());
  program.threads = threads;
  program.work = work;
  REPRISE_RETURN_IF_ERROR(plan::AssignMemory(program.plan));
  REPRISE_RETURN_IF_ERROR(plan::CheckPlan(program.plan));
  return program;
}

int64_t EstimateWork(const ops::BoundGraph& bound) {
  int64_t work = 0;
  for (int i = 0; i < static_cast<int>(bound.graph->nodes.size()); ++i) {
    if (bound.live[i]) work = AddWork(work, WorkOf(bound, i));
  }
  return work;
}

}  // namespace reprise::cpu
