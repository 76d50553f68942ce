// Reductions over any axes.
#include "runtime/ops/reduce.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/kernels/params.h"
#include "runtime/cuda/ops/launch.h"
#include "runtime/cuda/ops/lower.h"
#include "runtime/cuda/ops/teams.h"
#include "runtime/cuda/ops/walk.h"

namespace reprise::cuda {
namespace {

// From so many outputs on, a thread for each fills the GPU.
constexpr int64_t kManyOutputs = 16384;
// Sums so short are not worth a team.
constexpr int64_t kShortSum = 32;

absl::StatusOr<kernels::ReduceParams> WalksOf(const Dims& in,
                                              const ops::ReduceParams& read) {
  const Dims strides = Strides(in);
  Dims dims[2];  // of what stays, of what goes
  Dims steps[2];
  for (size_t i = 0; i < in.size(); ++i) {
    const size_t goes =
        std::ranges::count(read.axes, static_cast<int64_t>(i)) > 0 ? 1 : 0;
    dims[goes].push_back(in[i]);
    steps[goes].push_back(strides[i]);
  }
  kernels::ReduceParams params;
  REPRISE_ASSIGN_OR_RETURN(
      params.kept, MakeWalk(dims[0], std::span<const Dims>(&steps[0], 1), 1));
  REPRISE_ASSIGN_OR_RETURN(
      params.folded, MakeWalk(dims[1], std::span<const Dims>(&steps[1], 1), 1));
  return params;
}

// A thread for each output where neighbours lie together and are many, or
// where there is little to share.
bool ByThreads(const kernels::ReduceParams& params) {
  const kernels::Walk& kept = params.kept;
  const bool together = kept.strides[0][kept.axes - 1] == 1;
  return params.folded.count <= kShortSum
             ? together || params.folded.count <= 4
             : together && kept.count >= kManyOutputs;
}

// Whether there is a kernel for the operator and type.
bool Has(absl::string_view op, DType dtype) {
  if (IsFloat(dtype)) return true;
  const bool floats_only =
      op == "ReduceL2" || op == "ReduceLogSum" || op == "ReduceLogSumExp";
  return !floats_only && (dtype == DType::kInt32 || dtype == DType::kInt64);
}

}  // namespace

absl::Status LowerReduce(LoweringContext& context, const ops::NodeView& view) {
  const graph::Node& node = *view.node;
  const DType dtype = context.StoredAs(view.dtype(0));
  if (!Has(view.op(), dtype)) {
    return ops::NotRunHere(
        absl::StrCat("not run for elements of ", DTypeName(dtype)));
  }
  REPRISE_ASSIGN_OR_RETURN(const ops::ReduceParams read, ops::ReadReduce(view));
  if (read.axes.empty() && view.op() != "ReduceSumSquare") {
    return context.DefineView(node.outputs[0], node.inputs[0]);
  }
  REPRISE_ASSIGN_OR_RETURN(const kernels::ReduceParams params,
                           WalksOf(view.dims(0), read));
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId x,
                           context.Read(node.inputs[0]));
  const plan::BufferId y = context.Define(node.outputs[0]);
  std::vector<Argument> arguments = {Place{x}, Place{y}, ByValue(params)};
  const bool threads = ByThreads(params);
  const std::string entry =
      absl::StrCat("reprise_", absl::AsciiStrToLower(view.op()),
                   threads ? "_thread_" : "_team_", TypeSuffix(dtype));
  KernelLaunch launch =
      threads ? FlatLaunch(entry, params.kept.count, std::move(arguments))
              : TeamLaunch(entry, params.kept.count, params.folded.count,
                           std::move(arguments));
  context.AddStep(node.op, {std::move(launch)}, {x}, {y});
  return absl::OkStatus();
}

}  // namespace reprise::cuda
