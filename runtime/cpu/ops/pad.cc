// Pad: every output element is one of the input's, or the fill.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/ops/axis_tables.h"
#include "runtime/cpu/ops/families.h"
#include "runtime/ops/slice.h"

namespace reprise::cpu {
namespace {

// The input index that output index `at` of an axis shows.
int64_t Source(ops::PadMode mode, int64_t at, int64_t begin, int64_t extent) {
  int64_t i = at - begin;
  if (i >= 0 && i < extent) return i;
  if (extent == 0) return kFillIndex;
  switch (mode) {
    case ops::PadMode::kConstant:
      return kFillIndex;
    case ops::PadMode::kEdge:
      return std::clamp<int64_t>(i, 0, extent - 1);
    case ops::PadMode::kWrap:
      return (i % extent + extent) % extent;
    case ops::PadMode::kReflect:
      break;
  }
  if (extent == 1) return 0;
  const int64_t period = 2 * (extent - 1);
  i = (i % period + period) % period;
  return i < extent ? i : period - i;
}

}  // namespace

absl::StatusOr<Kernel> MakePad(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::PadParams params,
                           ops::ReadPad(request.view));
  const Dims& in = request.view.dims(0);
  const Dims& out = request.outputs[0].dims;
  AxisSources sources;
  for (size_t axis = 0; axis < in.size(); ++axis) {
    REPRISE_RETURN_IF_ERROR(TakeTable(request, out[axis]));
    std::vector<int64_t> shown;
    shown.reserve(static_cast<size_t>(out[axis]));
    for (int64_t i = 0; i < out[axis]; ++i) {
      shown.push_back(Source(params.mode, i, params.begins[axis], in[axis]));
    }
    sources.push_back(std::move(shown));
  }
  return TableKernel(
      request.view.dtype(0), in, std::move(sources),
      {.value = params.value, .input = params.computed ? 2 : -1});
}

}  // namespace reprise::cpu
