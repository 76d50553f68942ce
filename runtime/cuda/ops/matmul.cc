// MatMul and Gemm, with the bias and the activation of their fused forms: by
// the library where there is one for the type, else by our own kernel.
#include "runtime/ops/matmul.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/kernels/params.h"
#include "runtime/cuda/ops/launch.h"
#include "runtime/cuda/ops/lower.h"
#include "runtime/cuda/ops/walk.h"
#include "runtime/ops/activation.h"

namespace reprise::cuda {
namespace {

using kernels::EpilogueParams;
using kernels::Walk;

constexpr int64_t kTile = 16;  // of the naive kernel
constexpr int64_t kMaxGridY = 65535;
// Batches that have no common stride are several products; not too many.
constexpr int64_t kMaxProducts = 64;

// A product of either operator, in elements.
struct Problem {
  DType type = DType::kFp32;
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  bool transpose_a = false;
  bool transpose_b = false;
  Walk batch = {};  // operands a and b
  EpilogueParams finish =
      {};              // c_row and c_column of the addend, if there is one
  bool has_c = false;  // input 2
};

bool IsOne(float value) { return !(value < 1) && !(value > 1); }

absl::Status SetEpilogue(const ops::NodeView& view, Problem& problem) {
  REPRISE_ASSIGN_OR_RETURN(const ops::Activation activation,
                           ops::ReadActivation(*view.node));
  static_assert(static_cast<int>(ops::ActivationKind::kSilu) == kernels::kSilu);
  problem.finish.rows = problem.m;
  problem.finish.columns = problem.n;
  problem.finish.activation = static_cast<int32_t>(activation.kind);
  problem.finish.activation_alpha = activation.alpha;
  problem.finish.activation_beta = activation.beta;
  return absl::OkStatus();
}

absl::StatusOr<Problem> ReadMatMul(const LoweringContext& context,
                                   const ops::NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const ops::MatMulParams params,
                           ops::ReadMatMul(view));
  Problem problem{.type = context.StoredAs(view.dtype(0)),
                  .m = params.m,
                  .n = params.n,
                  .k = params.k,
                  .transpose_a = context.IsTurned(view.node->inputs[0]),
                  .transpose_b = context.IsTurned(view.node->inputs[1]),
                  .has_c = params.has_bias};
  problem.finish.c_column = 1;
  const int64_t batch = ElementCount(params.batch);
  // One right-hand side for all: a single tall product.
  if (ElementCount(params.b_batch) == 1 &&
      ElementCount(params.a_batch) == batch &&
      (batch == 1 || !problem.transpose_a)) {
    problem.m *= batch;
    problem.batch.count = problem.batch.elements = 1;
    problem.batch.dims[0] = 1;
  } else {
    Dims strides[] = {BroadcastStrides(params.a_batch, params.batch),
                      BroadcastStrides(params.b_batch, params.batch)};
    for (int64_t& stride : strides[0]) stride *= params.m * params.k;
    for (int64_t& stride : strides[1]) stride *= params.k * params.n;
    REPRISE_ASSIGN_OR_RETURN(problem.batch, MakeWalk(params.batch, strides, 1));
  }
  REPRISE_RETURN_IF_ERROR(SetEpilogue(view, problem));
  return problem;
}

absl::StatusOr<Problem> ReadGemm(const LoweringContext& context,
                                 const ops::NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const ops::GemmParams params, ops::ReadGemm(view));
  Problem problem{.type = context.StoredAs(view.dtype(0)),
                  .m = params.m,
                  .n = params.n,
                  .k = params.k,
                  .transpose_a = params.trans_a,
                  .transpose_b = params.trans_b,
                  .has_c = params.has_c};
  problem.batch.count = problem.batch.elements = 1;
  problem.batch.dims[0] = 1;
  problem.finish.alpha = params.alpha;
  problem.finish.beta = params.beta;
  if (params.has_c) {
    const int64_t out[] = {params.m, params.n};
    const Dims strides = BroadcastStrides(view.dims(2), out);
    problem.finish.c_row = strides[0];
    problem.finish.c_column = strides[1];
  }
  REPRISE_RETURN_IF_ERROR(SetEpilogue(view, problem));
  return problem;
}

// The buffers of a node's operands.
struct Operands {
  plan::BufferId a = plan::kNoBuffer;
  plan::BufferId b = plan::kNoBuffer;
  plan::BufferId c = plan::kNoBuffer;
  plan::BufferId y = plan::kNoBuffer;
};

absl::StatusOr<Operands> ReadOperands(LoweringContext& context,
                                      const ops::NodeView& view, bool has_c) {
  const graph::Node& node = *view.node;
  Operands operands;
  REPRISE_ASSIGN_OR_RETURN(operands.a, context.Read(node.inputs[0]));
  REPRISE_ASSIGN_OR_RETURN(operands.b, context.Read(node.inputs[1]));
  if (has_c) {
    REPRISE_ASSIGN_OR_RETURN(operands.c, context.Read(node.inputs[2]));
  }
  operands.y = context.Define(node.outputs[0]);
  return operands;
}

// What the library does after the product, and what is left for a kernel.
struct Split {
  bool bias = false;
  bool addend = false;
  bool relu = false;
  bool kernel = false;
};

Split SplitEpilogue(const Problem& problem) {
  const EpilogueParams& finish = problem.finish;
  Split split;
  if (problem.has_c) {
    const bool row =
        finish.c_row == 0 && (finish.c_column == 1 || problem.n == 1);
    split.bias = row && IsOne(finish.beta);
    split.addend = !split.bias && finish.c_row == problem.n &&
                   (finish.c_column == 1 || problem.n == 1);
    split.kernel = !split.bias && !split.addend;
  }
  if (finish.activation == kernels::kNoActivation) return split;
  split.relu = finish.activation == kernels::kRelu && !split.kernel;
  split.kernel = split.kernel || !split.relu;
  return split;
}

// The products: one for each combination of all batch axes but the innermost.
std::vector<Action> Products(const Problem& problem, const Operands& operands,
                             const Split& split,
                             const LoweringOptions& options) {
  const Walk& batch = problem.batch;
  const int inner = batch.axes - 1;
  const auto bytes = static_cast<int64_t>(ElementSize(problem.type));
  const int64_t size = problem.m * problem.n;
  MatrixProduct product;
  product.m = problem.m;
  product.n = problem.n;
  product.k = problem.k;
  product.batch = batch.dims[inner];
  product.transpose_a = problem.transpose_a;
  product.transpose_b = problem.transpose_b;
  product.stride_a = batch.strides[0][inner];
  product.stride_b = batch.strides[1][inner];
  product.stride_d = size;
  product.type = problem.type;
  product.tf32 =
      problem.type == DType::kFp32 && options.precision == Precision::kTf32;
  product.alpha = problem.finish.alpha;
  product.beta = 0;
  if (split.relu) product.epilogue = MatrixProduct::Epilogue::kRelu;
  if (split.bias) product.bias = {operands.c};
  if (split.addend) {
    product.c = {operands.c};
    product.stride_c = size;
    product.beta = problem.finish.beta;
  }
  if (options.workspace_bytes > 0) product.workspace = {kScratch};
  std::vector<Action> actions;
  for (int64_t i = 0; i < batch.count; i += batch.dims[inner]) {
    int64_t a = 0;
    int64_t b = 0;
    int64_t rest = i / batch.dims[inner];
    for (int axis = inner - 1; axis >= 0; --axis) {
      a += rest % batch.dims[axis] * batch.strides[0][axis];
      b += rest % batch.dims[axis] * batch.strides[1][axis];
      rest /= batch.dims[axis];
    }
    product.a = {operands.a, a * bytes};
    product.b = {operands.b, b * bytes};
    product.d = {operands.y, i * size * bytes};
    actions.emplace_back(product);
  }
  return actions;
}

absl::Status LowerByLibrary(LoweringContext& context, const ops::NodeView& view,
                            const Problem& problem) {
  const bool type = problem.type == DType::kFp32 ||
                    problem.type == DType::kFp16 ||
                    problem.type == DType::kBf16;
  const Walk& batch = problem.batch;
  if (!context.options().has_cublaslt || !type || problem.m == 0 ||
      problem.n == 0 || problem.k == 0 || batch.count == 0 ||
      batch.count / batch.dims[batch.axes - 1] > kMaxProducts) {
    return ops::NotRunHere("not a product for cuBLASLt");
  }
  REPRISE_ASSIGN_OR_RETURN(const Operands operands,
                           ReadOperands(context, view, problem.has_c));
  const Split split = SplitEpilogue(problem);
  std::vector<Action> actions =
      Products(problem, operands, split, context.options());
  if (split.kernel) {
    EpilogueParams finish = problem.finish;
    finish.rows *= batch.count;
    finish.alpha = 1;  // the product has it
    const bool addend = problem.has_c && !split.bias && !split.addend;
    actions.emplace_back(FlatLaunch(
        absl::StrCat("reprise_epilogue_", TypeSuffix(problem.type)),
        finish.rows * finish.columns,
        {Place{operands.y}, Place{addend ? operands.c : plan::kNoBuffer},
         ByValue(finish)}));
  }
  context.AddStep(view.node->op + ":cublaslt", std::move(actions),
                  {operands.a, operands.b, operands.c}, {operands.y},
                  context.options().workspace_bytes);
  return absl::OkStatus();
}

absl::Status LowerNaive(LoweringContext& context, const ops::NodeView& view,
                        const Problem& problem) {
  const DType type = problem.type;
  if (!IsFloat(type) && type != DType::kInt32 && type != DType::kInt64 &&
      type != DType::kUint32 && type != DType::kUint64) {
    return ops::NotRunHere(
        absl::StrCat("no product of elements of ", DTypeName(type)));
  }
  kernels::MatMulParams params{.k = problem.k,
                               .a_row = problem.k,
                               .a_column = 1,
                               .b_row = problem.n,
                               .b_column = 1,
                               .batch = problem.batch,
                               .epilogue = problem.finish};
  if (problem.transpose_a) {
    params.a_row = 1;
    params.a_column = problem.m;
  }
  if (problem.transpose_b) {
    params.b_row = 1;
    params.b_column = problem.k;
  }
  REPRISE_ASSIGN_OR_RETURN(const Operands operands,
                           ReadOperands(context, view, problem.has_c));
  const int64_t tiles = CeilDiv(problem.m, kTile) * CeilDiv(problem.n, kTile);
  context.AddStep(
      view.node->op + ":naive",
      {KernelLaunch{
          .entry = absl::StrCat("reprise_matmul_naive_", TypeSuffix(type)),
          .grid = {static_cast<unsigned>(tiles),
                   static_cast<unsigned>(
                       std::min(problem.batch.count, kMaxGridY))},
          .block = {static_cast<unsigned>(kTile), static_cast<unsigned>(kTile)},
          .arguments = {Place{operands.a}, Place{operands.b}, Place{operands.c},
                        Place{operands.y}, ByValue(params)}}},
      {operands.a, operands.b, operands.c}, {operands.y});
  return absl::OkStatus();
}

}  // namespace

absl::Status LowerMatMulLibrary(LoweringContext& context,
                                const ops::NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const Problem problem, ReadMatMul(context, view));
  return LowerByLibrary(context, view, problem);
}

absl::Status LowerGemmLibrary(LoweringContext& context,
                              const ops::NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const Problem problem, ReadGemm(context, view));
  return LowerByLibrary(context, view, problem);
}

absl::Status LowerMatMulNaive(LoweringContext& context,
                              const ops::NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const Problem problem, ReadMatMul(context, view));
  return LowerNaive(context, view, problem);
}

absl::Status LowerGemmNaive(LoweringContext& context,
                            const ops::NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const Problem problem, ReadGemm(context, view));
  return LowerNaive(context, view, problem);
}

}  // namespace reprise::cuda
