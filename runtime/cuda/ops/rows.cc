// Operators that work row by row: Softmax, LogSoftmax, LayerNormalization.
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/kernels/params.h"
#include "runtime/cuda/ops/launch.h"
#include "runtime/cuda/ops/lower.h"
#include "runtime/cuda/ops/teams.h"
#include "runtime/ops/norm.h"
#include "runtime/ops/softmax.h"

namespace reprise::cuda {
namespace {

absl::Status CheckFloat(DType dtype) {
  if (IsFloat(dtype)) return absl::OkStatus();
  return ops::NotRunHere(
      absl::StrCat("not run for elements of ", DTypeName(dtype)));
}

// How far apart a row's parameters are: 1, or 0 where one stands for all.
absl::StatusOr<int32_t> StepOf(const ops::NodeView& view, size_t i,
                               int64_t length) {
  const int64_t count = ElementCount(view.dims(i));
  if (count == length) return 1;
  if (count == 1) return 0;
  return ops::NotRunHere("a scale or bias that is broadcast within the row");
}

}  // namespace

absl::Status LowerSoftmax(LoweringContext& context, const ops::NodeView& view) {
  const graph::Node& node = *view.node;
  const DType dtype = context.StoredAs(view.dtype(0));
  REPRISE_RETURN_IF_ERROR(CheckFloat(dtype));
  REPRISE_ASSIGN_OR_RETURN(const ops::SoftmaxParams read,
                           ops::ReadSoftmax(view));
  const kernels::SoftmaxParams params{.outer = read.outer,
                                      .length = read.length,
                                      .inner = read.inner,
                                      .log = view.op() == "LogSoftmax" ? 1 : 0};
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId x,
                           context.Read(node.inputs[0]));
  const plan::BufferId y = context.Define(node.outputs[0]);
  std::vector<Argument> arguments = {Place{x}, Place{y}, ByValue(params)};
  const bool rows = params.inner == 1;
  const std::string entry = absl::StrCat(
      "reprise_softmax_", rows ? "team_" : "thread_", TypeSuffix(dtype));
  KernelLaunch launch =
      rows ? TeamLaunch(entry, params.length > 0 ? params.outer : 0,
                        params.length, std::move(arguments))
           : FlatLaunch(entry, params.outer * params.inner,
                        std::move(arguments));
  context.AddStep(node.op, {std::move(launch)}, {x}, {y});
  return absl::OkStatus();
}

absl::Status LowerLayerNorm(LoweringContext& context,
                            const ops::NodeView& view) {
  const graph::Node& node = *view.node;
  const DType dtype = context.StoredAs(view.dtype(0));
  REPRISE_RETURN_IF_ERROR(CheckFloat(dtype));
  REPRISE_ASSIGN_OR_RETURN(const ops::LayerNormParams read,
                           ops::ReadLayerNorm(view));
  kernels::LayerNormParams params{
      .rows = read.outer, .length = read.inner, .epsilon = read.epsilon};
  REPRISE_ASSIGN_OR_RETURN(params.scale_step, StepOf(view, 1, read.inner));
  if (read.has_bias) {
    REPRISE_ASSIGN_OR_RETURN(params.bias_step, StepOf(view, 2, read.inner));
  }
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == graph::kNoValue) continue;
    if (context.TypeOf(node.outputs[i]) != DType::kFp32) {
      return ops::NotRunHere("mean and deviation are made in FP32 only");
    }
  }
  std::vector<plan::BufferId> reads;
  for (size_t i = 0; i < (read.has_bias ? 3 : 2); ++i) {
    REPRISE_ASSIGN_OR_RETURN(const plan::BufferId id,
                             context.Read(node.inputs[i]));
    reads.push_back(id);
  }
  reads.resize(3, plan::kNoBuffer);
  std::vector<plan::BufferId> writes;
  for (const graph::ValueId id : node.outputs) {
    writes.push_back(context.Define(id));
  }
  writes.resize(3, plan::kNoBuffer);
  context.AddStep(
      node.op,
      {TeamLaunch(
          absl::StrCat("reprise_layer_norm_", TypeSuffix(dtype)),
          params.length > 0 ? params.rows : 0, params.length,
          {Place{reads[0]}, Place{reads[1]}, Place{reads[2]}, Place{writes[0]},
           Place{writes[1]}, Place{writes[2]}, ByValue(params)})},
      reads, writes);
  return absl::OkStatus();
}

}  // namespace reprise::cuda
