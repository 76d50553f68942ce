// Element-wise functions of numbers: one kernel a node.
#include "runtime/ops/elementwise.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/ops/launch.h"
#include "runtime/cuda/ops/lower.h"
#include "runtime/cuda/ops/walk.h"

namespace reprise::cuda {
namespace {

std::string Entry(absl::string_view function, DType dtype) {
  return absl::StrCat("reprise_", function, "_", TypeSuffix(dtype));
}

int PackOf(DType dtype) {
  return kernels::PackOf(static_cast<int>(ElementSize(dtype)));
}

absl::Status CheckFloat(DType dtype) {
  if (IsFloat(dtype)) return absl::OkStatus();
  return ops::NotRunHere(
      absl::StrCat("not run for elements of ", DTypeName(dtype)));
}

absl::Status CheckNumber(DType dtype) {
  if (IsNumber(dtype)) return absl::OkStatus();
  return ops::NotRunHere(
      absl::StrCat("not run for elements of ", DTypeName(dtype)));
}

// y = function(x) over all elements of input 0.
absl::Status AddUnary(LoweringContext& context, const ops::NodeView& view,
                      absl::string_view function, kernels::UnaryParams params) {
  const graph::Node& node = *view.node;
  const DType dtype = context.StoredAs(view.dtype(0));
  params.elements = ElementCount(view.dims(0));
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId x,
                           context.Read(node.inputs[0]));
  const plan::BufferId y = context.Define(node.outputs[0]);
  context.AddStep(node.op,
                  {FlatLaunch(Entry(function, dtype),
                              CeilDiv(params.elements, PackOf(dtype)),
                              {Place{x}, Place{y}, ByValue(params)})},
                  {x}, {y});
  return absl::OkStatus();
}

// to = function(a, b), broadcast to `out`.
absl::StatusOr<KernelLaunch> BinaryLaunch(const std::string& entry, DType dtype,
                                          Place a, const Dims& a_dims, Place b,
                                          const Dims& b_dims, Place to,
                                          const Dims& out) {
  const Dims strides[] = {BroadcastStrides(a_dims, out),
                          BroadcastStrides(b_dims, out)};
  REPRISE_ASSIGN_OR_RETURN(const kernels::Walk walk,
                           MakeWalk(out, strides, PackOf(dtype)));
  return FlatLaunch(entry, walk.count, {a, b, to, ByValue(walk)});
}

// The entry of a node of two operands, by the types that they are kept in.
absl::StatusOr<std::string> BinaryEntry(const LoweringContext& context,
                                        const ops::NodeView& view) {
  const DType dtype = context.StoredAs(view.dtype(0));
  REPRISE_RETURN_IF_ERROR(CheckNumber(dtype));
  if (view.op() == "Pow") {
    const DType exponent = context.StoredAs(view.dtype(1));
    const auto has = [](DType type) {
      return IsFloat(type) || type == DType::kInt32 || type == DType::kInt64;
    };
    if (!has(dtype) || !has(exponent)) {
      return ops::NotRunHere(absl::StrCat("no power of ", DTypeName(dtype),
                                          " by ", DTypeName(exponent)));
    }
    return absl::StrCat(Entry("pow", dtype), "_", TypeSuffix(exponent));
  }
  if (view.op() == "Mod") {
    REPRISE_ASSIGN_OR_RETURN(const bool c_like, ops::ReadFmod(view));
    if (c_like) return Entry("fmod", dtype);
    if (IsFloat(dtype)) return CheckNumber(DType::kBool);
    return Entry("mod", dtype);
  }
  return Entry(absl::AsciiStrToLower(view.op()), dtype);
}

}  // namespace

absl::Status LowerUnary(LoweringContext& context, const ops::NodeView& view) {
  const absl::string_view op = view.op();
  const DType dtype = context.StoredAs(view.dtype(0));
  if (op == "Abs" || op == "Neg" || op == "Sign" || op == "Relu") {
    REPRISE_RETURN_IF_ERROR(CheckNumber(dtype));
    return AddUnary(context, view, absl::AsciiStrToLower(op), {});
  }
  REPRISE_RETURN_IF_ERROR(CheckFloat(dtype));
  if (op == "Gelu") {
    REPRISE_ASSIGN_OR_RETURN(const bool tanh, ops::ReadGeluTanh(view));
    return AddUnary(context, view, tanh ? "gelutanh" : "gelu", {});
  }
  REPRISE_ASSIGN_OR_RETURN(const ops::UnaryParams read, ops::ReadUnary(view));
  return AddUnary(context, view, absl::AsciiStrToLower(op),
                  {.a = read.alpha, .b = read.beta});
}

absl::Status LowerFloatTest(LoweringContext& context,
                            const ops::NodeView& view) {
  REPRISE_RETURN_IF_ERROR(CheckFloat(context.StoredAs(view.dtype(0))));
  REPRISE_ASSIGN_OR_RETURN(const int64_t positive,
                           view.attributes().Int("detect_positive", 1));
  REPRISE_ASSIGN_OR_RETURN(const int64_t negative,
                           view.attributes().Int("detect_negative", 1));
  return AddUnary(
      context, view, view.op() == "IsNaN" ? "isnan" : "isinf",
      {.a = positive != 0 ? 1.0F : 0.0F, .b = negative != 0 ? 1.0F : 0.0F});
}

absl::Status LowerBinary(LoweringContext& context, const ops::NodeView& view) {
  const graph::Node& node = *view.node;
  REPRISE_ASSIGN_OR_RETURN(const std::string entry, BinaryEntry(context, view));
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId a,
                           context.Read(node.inputs[0]));
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId b,
                           context.Read(node.inputs[1]));
  const plan::BufferId y = context.Define(node.outputs[0]);
  REPRISE_ASSIGN_OR_RETURN(
      KernelLaunch launch,
      BinaryLaunch(entry, context.StoredAs(view.dtype(0)), {a}, view.dims(0),
                   {b}, view.dims(1), {y}, context.DimsOf(node.outputs[0])));
  context.AddStep(node.op, {std::move(launch)}, {a, b}, {y});
  return absl::OkStatus();
}

// The first two inputs into the output, then each further one onto it.
absl::Status LowerVariadic(LoweringContext& context,
                           const ops::NodeView& view) {
  const graph::Node& node = *view.node;
  const DType dtype = context.StoredAs(view.dtype(0));
  const bool mean = view.op() == "Mean";
  REPRISE_RETURN_IF_ERROR(mean ? CheckFloat(dtype) : CheckNumber(dtype));
  if (view.input_count() == 1) {
    return context.DefineView(node.outputs[0], node.inputs[0]);
  }
  const std::string entry = Entry(view.op() == "Max"   ? "max"
                                  : view.op() == "Min" ? "min"
                                                       : "add",
                                  dtype);
  std::vector<plan::BufferId> reads;
  for (const graph::ValueId id : node.inputs) {
    REPRISE_ASSIGN_OR_RETURN(const plan::BufferId read, context.Read(id));
    reads.push_back(read);
  }
  const Dims& out = context.DimsOf(node.outputs[0]);
  const plan::BufferId y = context.Define(node.outputs[0]);
  std::vector<Action> actions;
  for (size_t i = 1; i < reads.size(); ++i) {
    const plan::BufferId a = i == 1 ? reads[0] : y;
    REPRISE_ASSIGN_OR_RETURN(
        KernelLaunch launch,
        BinaryLaunch(entry, dtype, {a}, i == 1 ? view.dims(0) : out, {reads[i]},
                     view.dims(i), {y}, out));
    actions.emplace_back(std::move(launch));
  }
  if (mean) {
    const kernels::UnaryParams params{
        .elements = ElementCount(out),
        .a = static_cast<float>(view.input_count())};
    actions.emplace_back(FlatLaunch(Entry("divide", dtype),
                                    CeilDiv(params.elements, PackOf(dtype)),
                                    {Place{y}, Place{y}, ByValue(params)}));
  }
  context.AddStep(node.op, std::move(actions), std::move(reads), {y});
  return absl::OkStatus();
}

}  // namespace reprise::cuda
