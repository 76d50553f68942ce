// The list of operators that have a plain loop.
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/base/status_macros.h"
#include "runtime/cpu/kernel.h"
#include "runtime/cpu/ops/families.h"
#include "runtime/cpu/strided.h"
#include "runtime/cpu/work.h"

namespace reprise::cpu {
namespace {

using Table = std::map<absl::string_view, MakeKernelFn>;

void Add(Table& table, std::initializer_list<absl::string_view> names,
         MakeKernelFn make) {
  for (const absl::string_view name : names) table[name] = make;
}

void AddElementwise(Table& table) {
  Add(table, {"Abs",         "Acos",      "Acosh",      "Asin",
              "Asinh",       "Atan",      "Atanh",      "Ceil",
              "Celu",        "Cos",       "Cosh",       "Elu",
              "Erf",         "Exp",       "Floor",      "Gelu",
              "HardSigmoid", "HardSwish", "LeakyRelu",  "Log",
              "Mish",        "Neg",       "Reciprocal", "Relu",
              "Round",       "Selu",      "Sigmoid",    "Sign",
              "Sin",         "Sinh",      "Softplus",   "Softsign",
              "Sqrt",        "Tan",       "Tanh",       "ThresholdedRelu"},
      MakeUnary);
  Add(table, {"Clip"}, MakeClip);
  Add(table, {"IsNaN", "IsInf"}, MakeFloatTest);
  Add(table, {"Add", "Sub", "Mul", "Div", "PRelu"}, MakeArithmetic);
  Add(table, {"Pow"}, MakePow);
  Add(table, {"Mod"}, MakeMod);
  Add(table, {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"},
      MakeCompare);
  Add(table, {"And", "Or", "Xor", "Not"}, MakeLogic);
  Add(table,
      {"BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot"},
      MakeBits);
  Add(table, {"Sum", "Mean", "Max", "Min"}, MakeVariadic);
  Add(table, {"Where"}, MakeWhere);
  Add(table, {"Cast", "CastLike"}, MakeCast);
}

void AddOthers(Table& table) {
  Add(table, {"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze"},
      MakeCopy);
  Add(table, {"Dropout"}, MakeDropout);
  Add(table, {"Transpose"}, MakeTranspose);
  Add(table, {"Concat"}, MakeConcat);
  Add(table, {"Split"}, MakeSplit);
  Add(table, {"Slice"}, MakeSlice);
  Add(table, {"Expand"}, MakeExpand);
  Add(table, {"Tile"}, MakeTile);
  Add(table, {"Pad"}, MakePad);
  Add(table, {"DepthToSpace"}, MakeDepthToSpace);
  Add(table, {"SpaceToDepth"}, MakeSpaceToDepth);
  Add(table, {"Trilu"}, MakeTrilu);
  Add(table, {"Shape", "Size"}, MakeShape);
  Add(table, {"ConstantOfShape"}, MakeConstantOfShape);
  Add(table, {"Range"}, MakeRange);
  Add(table, {"Gather"}, MakeGather);
  Add(table, {"GatherElements"}, MakeGatherElements);
  Add(table, {"GatherND"}, MakeGatherNd);
  Add(table, {"ScatterElements", "Scatter"}, MakeScatterElements);
  Add(table, {"ScatterND"}, MakeScatterNd);
  Add(table, {"OneHot"}, MakeOneHot);
  Add(table,
      {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
       "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"},
      MakeReduce);
  Add(table, {"ArgMax", "ArgMin"}, MakeArg);
  Add(table, {"CumSum"}, MakeCumSum);
  Add(table, {"TopK"}, MakeTopK);
  Add(table, {"Resize", "Upsample"}, MakeResize);
  Add(table, {"Softmax", "LogSoftmax", "Hardmax"}, MakeSoftmax);
  Add(table, {"BatchNormalization"}, MakeBatchNorm);
  Add(table, {"LRN"}, MakeLrn);
  Add(table, {"LayerNormalization"}, MakeLayerNorm);
  Add(table, {"InstanceNormalization"}, MakeInstanceNorm);
  Add(table, {"MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"},
      MakePool);
  Add(table, {"Conv"}, MakeConv);
  Add(table, {"MatMul"}, MakeMatMul);
  Add(table, {"Gemm"}, MakeGemm);
}

Table MakeTable() {
  Table table;
  AddElementwise(table);
  AddOthers(table);
  return table;
}

const Table& TheTable() {
  static const Table& table = *new Table(MakeTable());
  return table;
}

// What the arrays of the walks are long enough for: a Tile splits each axis.
static_assert(kMaxAxes == 2 * ops::kMaxRank);

absl::Status CheckRanks(const KernelRequest& request) {
  for (const ops::TensorType* type : request.view.types) {
    if (type == nullptr) continue;
    REPRISE_RETURN_IF_ERROR(ops::BytesOf(*type).status());
  }
  for (const ops::TensorType& type : request.outputs) {
    REPRISE_RETURN_IF_ERROR(ops::BytesOf(type).status());
  }
  return absl::OkStatus();
}

}  // namespace

bool HasPlainKernel(absl::string_view op) { return TheTable().contains(op); }

absl::StatusOr<Kernel> MakePlainKernel(const KernelRequest& request) {
  REPRISE_RETURN_IF_ERROR(CheckRanks(request));
  const auto it = TheTable().find(request.view.op());
  if (it == TheTable().end()) {
    return ops::NotRunHere(
        absl::StrCat("the CPU has no kernel for ", request.view.op()));
  }
  REPRISE_RETURN_IF_ERROR(
      CheckWork(request.view, request.outputs, kMaxPlainWork));
  return it->second(request);
}

}  // namespace reprise::cpu
