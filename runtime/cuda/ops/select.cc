// Comparisons and logic, Where, Clip and Cast.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/ops/launch.h"
#include "runtime/cuda/ops/lower.h"
#include "runtime/cuda/ops/walk.h"
#include "runtime/ops/elementwise.h"

namespace reprise::cuda {
namespace {

int PackOf(DType dtype) {
  return kernels::PackOf(static_cast<int>(ElementSize(dtype)));
}

absl::Status NotOf(DType dtype) {
  return ops::NotRunHere(
      absl::StrCat("not run for elements of ", DTypeName(dtype)));
}

// One launch over all inputs, broadcast to the output.
absl::Status AddBroadcast(LoweringContext& context, const ops::NodeView& view,
                          std::string entry, int pack) {
  const graph::Node& node = *view.node;
  const Dims& out = context.DimsOf(node.outputs[0]);
  std::vector<Dims> strides;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    strides.push_back(BroadcastStrides(view.dims(i), out));
  }
  REPRISE_ASSIGN_OR_RETURN(const kernels::Walk walk,
                           MakeWalk(out, strides, pack));
  std::vector<plan::BufferId> reads;
  std::vector<Argument> arguments;
  for (const graph::ValueId id : node.inputs) {
    REPRISE_ASSIGN_OR_RETURN(const plan::BufferId read, context.Read(id));
    reads.push_back(read);
    arguments.emplace_back(Place{read});
  }
  const plan::BufferId y = context.Define(node.outputs[0]);
  arguments.emplace_back(Place{y});
  arguments.emplace_back(ByValue(walk));
  context.AddStep(
      node.op, {FlatLaunch(std::move(entry), walk.count, std::move(arguments))},
      std::move(reads), {y});
  return absl::OkStatus();
}

}  // namespace

absl::Status LowerCompare(LoweringContext& context, const ops::NodeView& view) {
  const DType dtype = context.StoredAs(view.dtype(0));
  const bool bools = dtype == DType::kBool && view.op() == "Equal";
  if (!IsNumber(dtype) && !bools) return NotOf(dtype);
  return AddBroadcast(context, view,
                      absl::StrCat("reprise_", absl::AsciiStrToLower(view.op()),
                                   "_", TypeSuffix(dtype)),
                      PackOf(dtype));
}

absl::Status LowerLogic(LoweringContext& context, const ops::NodeView& view) {
  if (view.op() != "Not") {
    return AddBroadcast(
        context, view,
        absl::StrCat("reprise_", absl::AsciiStrToLower(view.op()), "_bool"),
        PackOf(DType::kBool));
  }
  const graph::Node& node = *view.node;
  const kernels::UnaryParams params{.elements = ElementCount(view.dims(0))};
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId x,
                           context.Read(node.inputs[0]));
  const plan::BufferId y = context.Define(node.outputs[0]);
  context.AddStep(node.op,
                  {FlatLaunch("reprise_not_bool",
                              CeilDiv(params.elements, PackOf(DType::kBool)),
                              {Place{x}, Place{y}, ByValue(params)})},
                  {x}, {y});
  return absl::OkStatus();
}

absl::Status LowerWhere(LoweringContext& context, const ops::NodeView& view) {
  const DType dtype = context.StoredAs(view.dtype(1));
  if (dtype == DType::kString) return NotOf(dtype);
  const auto bytes = static_cast<int>(ElementSize(dtype));
  return AddBroadcast(context, view,
                      absl::StrCat("reprise_where_", BytesSuffix(bytes)),
                      kernels::PackOf(bytes));
}

absl::Status LowerClip(LoweringContext& context, const ops::NodeView& view) {
  const graph::Node& node = *view.node;
  const DType dtype = context.StoredAs(view.dtype(0));
  if (!IsNumber(dtype)) return NotOf(dtype);
  REPRISE_ASSIGN_OR_RETURN(const ops::ClipParams clip,
                           ops::ReadClipBounds(view));
  const kernels::ClipParams params{
      .elements = ElementCount(view.dims(0)),
      .low = clip.low,
      .high = clip.high,
      .low_int = clip.low_int,
      .high_int = clip.high_int,
      .has_low = clip.has_low || clip.low_computed ? 1 : 0,
      .has_high = clip.has_high || clip.high_computed ? 1 : 0};
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId x,
                           context.Read(node.inputs[0]));
  std::vector<plan::BufferId> reads = {x, plan::kNoBuffer, plan::kNoBuffer};
  for (const size_t i : {size_t{1}, size_t{2}}) {
    if (!(i == 1 ? clip.low_computed : clip.high_computed)) continue;
    REPRISE_ASSIGN_OR_RETURN(reads[i], context.Read(node.inputs[i]));
  }
  const plan::BufferId y = context.Define(node.outputs[0]);
  context.AddStep(node.op,
                  {FlatLaunch(absl::StrCat("reprise_clip_", TypeSuffix(dtype)),
                              CeilDiv(params.elements, PackOf(dtype)),
                              {Place{x}, Place{reads[1]}, Place{reads[2]},
                               Place{y}, ByValue(params)})},
                  reads, {y});
  return absl::OkStatus();
}

absl::Status LowerCast(LoweringContext& context, const ops::NodeView& view) {
  const graph::Node& node = *view.node;
  const DType from = context.StoredAs(view.dtype(0));
  const DType to = context.TypeOf(node.outputs[0]);
  if (from == DType::kString || to == DType::kString) {
    return NotOf(DType::kString);
  }
  if (from == to) return context.DefineView(node.outputs[0], node.inputs[0]);
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId x,
                           context.Read(node.inputs[0]));
  const plan::BufferId y = context.Define(node.outputs[0]);
  context.AddStep(node.op,
                  {CastLaunch({x}, from, {y}, to, ElementCount(view.dims(0)))},
                  {x}, {y});
  return absl::OkStatus();
}

}  // namespace reprise::cuda
