#include "runtime/cuda/cuda_lowering.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/ops/chain.h"
#include "runtime/cuda/ops/lower.h"
#include "runtime/graph/graph.h"
#include "runtime/plan/memory_plan.h"

namespace reprise::cuda {
namespace {

// The first that fits wins.
struct Choice {
  absl::string_view op;
  LowerFn lower;
};
constexpr Choice kChoices[] = {
    {"Identity", LowerView},
    {"Reshape", LowerView},
    {"Flatten", LowerView},
    {"Squeeze", LowerView},
    {"Unsqueeze", LowerView},
    {"Dropout", LowerView},

    {"MatMul", LowerMatMulLibrary},
    {"MatMul", LowerMatMulNaive},
    {"Gemm", LowerGemmLibrary},
    {"Gemm", LowerGemmNaive},

    {"Softmax", LowerSoftmax},
    {"LogSoftmax", LowerSoftmax},
    {"LayerNormalization", LowerLayerNorm},
    {"ReduceL1", LowerReduce},
    {"ReduceL2", LowerReduce},
    {"ReduceLogSum", LowerReduce},
    {"ReduceLogSumExp", LowerReduce},
    {"ReduceMax", LowerReduce},
    {"ReduceMean", LowerReduce},
    {"ReduceMin", LowerReduce},
    {"ReduceProd", LowerReduce},
    {"ReduceSum", LowerReduce},
    {"ReduceSumSquare", LowerReduce},

    {"Gather", LowerGather},
    {"Transpose", LowerTranspose},
    {"Concat", LowerConcat},
    {"Split", LowerSplit},
    {"Slice", LowerSlice},
    {"Expand", LowerExpand},
    {"Tile", LowerTile},
    {"Pad", LowerPad},
    {"ConstantOfShape", LowerConstantOfShape},

    {"Abs", LowerUnary},
    {"Acos", LowerUnary},
    {"Acosh", LowerUnary},
    {"Asin", LowerUnary},
    {"Asinh", LowerUnary},
    {"Atan", LowerUnary},
    {"Atanh", LowerUnary},
    {"Ceil", LowerUnary},
    {"Celu", LowerUnary},
    {"Cos", LowerUnary},
    {"Cosh", LowerUnary},
    {"Elu", LowerUnary},
    {"Erf", LowerUnary},
    {"Exp", LowerUnary},
    {"Floor", LowerUnary},
    {"Gelu", LowerUnary},
    {"HardSigmoid", LowerUnary},
    {"HardSwish", LowerUnary},
    {"LeakyRelu", LowerUnary},
    {"Log", LowerUnary},
    {"Mish", LowerUnary},
    {"Neg", LowerUnary},
    {"Reciprocal", LowerUnary},
    {"Relu", LowerUnary},
    {"Round", LowerUnary},
    {"Selu", LowerUnary},
    {"Sigmoid", LowerUnary},
    {"Sign", LowerUnary},
    {"Sin", LowerUnary},
    {"Sinh", LowerUnary},
    {"Softplus", LowerUnary},
    {"Softsign", LowerUnary},
    {"Sqrt", LowerUnary},
    {"Tan", LowerUnary},
    {"Tanh", LowerUnary},
    {"ThresholdedRelu", LowerUnary},
    {"IsNaN", LowerFloatTest},
    {"IsInf", LowerFloatTest},
    {"Clip", LowerClip},
    {"Cast", LowerCast},
    {"CastLike", LowerCast},

    {"Add", LowerBinary},
    {"Sub", LowerBinary},
    {"Mul", LowerBinary},
    {"Div", LowerBinary},
    {"PRelu", LowerBinary},
    {"Pow", LowerBinary},
    {"Mod", LowerBinary},
    {"Sum", LowerVariadic},
    {"Mean", LowerVariadic},
    {"Max", LowerVariadic},
    {"Min", LowerVariadic},

    {"Equal", LowerCompare},
    {"Greater", LowerCompare},
    {"GreaterOrEqual", LowerCompare},
    {"Less", LowerCompare},
    {"LessOrEqual", LowerCompare},
    {"And", LowerLogic},
    {"Or", LowerLogic},
    {"Xor", LowerLogic},
    {"Not", LowerLogic},
    {"Where", LowerWhere},
};

absl::Status LowerNode(LoweringContext& context, const ops::NodeView& view) {
  absl::Status refusal = ops::NotRunHere(
      absl::StrCat("the CUDA device has no kernel for ", view.op()));
  for (const Choice& choice : kChoices) {
    if (choice.op != view.op()) continue;
    absl::Status status = choice.lower(context, view);
    if (!absl::IsUnimplemented(status)) return status;
    refusal = std::move(status);
  }
  return refusal;
}

// What the kernels have types and room for.
absl::Status CheckType(const ops::TensorType& type) {
  if (type.dtype == DType::kString) {
    return ops::NotRunHere("the CUDA device has no tensors of BYTES");
  }
  return ops::BytesOf(type).status();
}

absl::Status CheckNode(const ops::BoundGraph& bound,
                       const ops::NodeView& view) {
  for (const ops::TensorType* type : view.types) {
    if (type != nullptr) REPRISE_RETURN_IF_ERROR(CheckType(*type));
  }
  for (const graph::ValueId id : view.node->outputs) {
    if (id == graph::kNoValue) continue;
    REPRISE_RETURN_IF_ERROR(CheckType(bound.types[graph::At(id)]));
  }
  return absl::OkStatus();
}

// Inputs and outputs too, which no node may touch.
absl::Status CheckSlot(const ops::BoundGraph& bound) {
  for (const auto* ids : {&bound.graph->inputs, &bound.graph->outputs}) {
    for (const graph::ValueId id : *ids) {
      const absl::Status status = CheckType(bound.types[graph::At(id)]);
      if (status.ok()) continue;
      return Annotate(
          status,
          absl::StrCat("'", bound.graph->values[graph::At(id)].name, "'"));
    }
  }
  return absl::OkStatus();
}

// What each node is to the chains: nothing, in the midst of one, or its end,
// where the whole is lowered.
struct ChainPlaces {
  std::vector<bool> inside;
  std::vector<const NodeChain*> ends;

  ChainPlaces(size_t nodes, const std::vector<NodeChain>& chains)
      : inside(nodes), ends(nodes) {
    for (const NodeChain& chain : chains) {
      for (const int node : chain.nodes)
        inside[static_cast<size_t>(node)] = true;
      ends[static_cast<size_t>(chain.nodes.back())] = &chain;
    }
  }
};

}  // namespace

absl::StatusOr<Program> Lower(const ops::BoundGraph& bound,
                              CudaWeights& weights,
                              const LoweringOptions& options) {
  REPRISE_RETURN_IF_ERROR(CheckSlot(bound));
  LoweringContext context(bound, weights, options);
  const std::vector<graph::Node>& nodes = bound.graph->nodes;
  std::vector<NodeChain> chains;
  if (options.chains == Chains::kWritten) chains = FindChains(context);
  const ChainPlaces places(nodes.size(), chains);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!bound.live[i] || (places.inside[i] && places.ends[i] == nullptr)) {
      continue;
    }
    const ops::NodeView view = ops::ViewOf(bound, static_cast<int>(i));
    absl::Status status = CheckNode(bound, view);
    if (status.ok()) {
      status = places.ends[i] != nullptr ? LowerChain(context, *places.ends[i])
                                         : LowerNode(context, view);
    }
    if (!status.ok()) return Annotate(status, graph::NodeText(nodes[i]));
  }
  REPRISE_ASSIGN_OR_RETURN(Program program, context.Finish());
  REPRISE_RETURN_IF_ERROR(plan::AssignMemory(program.plan));
  REPRISE_RETURN_IF_ERROR(plan::CheckPlan(program.plan));
  return program;
}

std::vector<absl::string_view> LoweredOperators() {
  std::set<absl::string_view> operators;
  for (const Choice& choice : kChoices) operators.insert(choice.op);
  return {operators.begin(), operators.end()};
}

}  // namespace reprise::cuda
