// Gather: elements chosen by indices.
#include "runtime/ops/gather.h"

#include <span>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/kernels/params.h"
#include "runtime/cuda/ops/launch.h"
#include "runtime/cuda/ops/lower.h"

namespace reprise::cuda {
namespace {

constexpr int64_t kBlockBytes = 16;

}  // namespace

absl::Status LowerGather(LoweringContext& context, const ops::NodeView& view) {
  const graph::Node& node = *view.node;
  const DType dtype = context.StoredAs(view.dtype(0));
  if (dtype == DType::kString) return ops::NotRunHere("not run for BYTES");
  REPRISE_RETURN_IF_ERROR(ops::CheckIndices(view));
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis, ops::ReadGatherAxis(view));
  const std::span<const int64_t> data = view.dims(0);
  const auto at = static_cast<size_t>(axis);
  kernels::GatherParams params{.outer = ElementCount(data.first(at)),
                               .extent = data[at],
                               .inner = ElementCount(data.subspan(at + 1)),
                               .indices = ElementCount(view.dims(1))};
  auto bytes = static_cast<int64_t>(ElementSize(dtype));
  if (params.inner * bytes % kBlockBytes == 0) {  // whole blocks are moved
    params.inner = params.inner * bytes / kBlockBytes;
    bytes = kBlockBytes;
  }
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId x,
                           context.Read(node.inputs[0]));
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId indices,
                           context.Read(node.inputs[1]));
  const plan::BufferId y = context.Define(node.outputs[0]);
  context.AddStep(
      node.op,
      {FlatLaunch(absl::StrCat("reprise_gather_", BytesSuffix(bytes), "_",
                               TypeSuffix(view.dtype(1))),
                  params.outer * params.indices * params.inner,
                  {Place{x}, Place{indices}, Place{y}, ByValue(params)})},
      {x, indices}, {y});
  return absl::OkStatus();
}

}  // namespace reprise::cuda
