// MaxPool and AveragePool by oneDNN, in the layout of their input.
#include <cstdint>
#include <string>
#include <utility>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/ops/lower.h"
#include "runtime/ops/pool.h"

namespace reprise::cpu {
namespace {

using dnnl::memory;

// A window that is wider than its input and as much again is mostly padding:
// oneDNN makes code for, or walks over, all of it, the plain loop none.
bool MostlyPadding(const ops::Window& window, const Dims& x) {
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    if (window.kernel[i] > 2 * x[i + 2] + 1) return true;
  }
  return false;
}

// The pads after the end that give oneDNN's formula the same output extents.
// False if they would count in an average.
bool PadsEnd(const ops::PoolGeometry& geometry, const Dims& x,
             memory::dims& pads) {
  const ops::Window& window = geometry.window;
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    const int64_t reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
    const int64_t pad = (window.out[i] - 1) * window.strides[i] + reach -
                        x[i + 2] - window.pads_begin[i];
    if (geometry.count_include_pad && pad > window.pads_end[i]) return false;
    // A window that lies in the padding alone has no maximum.
    if (pad >= reach || window.pads_begin[i] >= reach) return false;
    pads.push_back(pad);
  }
  return true;
}

}  // namespace

absl::Status LowerPoolOneDnn(LoweringContext& context,
                             const ops::NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const ops::PoolGeometry geometry,
                           ops::ReadPool(view));
  const graph::Node& node = *view.node;
  const bool max = node.op == "MaxPool" || node.op == "GlobalMaxPool";
  const bool average =
      node.op == "AveragePool" || node.op == "GlobalAveragePool";
  const ops::Window& window = geometry.window;
  memory::dims pads_end;
  if (!AllFp32(context, view) || (!max && !average) ||
      (node.outputs.size() > 1 && node.outputs[1] != graph::kNoValue) ||
      window.kernel.size() > 3 || window.kernel.empty() ||
      MostlyPadding(window, view.dims(0)) ||
      !PadsEnd(geometry, view.dims(0), pads_end)) {
    return ops::NotRunHere("not a pooling that oneDNN has");
  }
  REPRISE_ASSIGN_OR_RETURN(const Layout src, context.MadeIn(node.inputs[0]));
  Primitive pool;
  REPRISE_RETURN_IF_ERROR(Guarded(node.op, [&] {
    PoolSpec spec;
    spec.kind = max ? dnnl::algorithm::pooling_max
                    : (geometry.count_include_pad
                           ? dnnl::algorithm::pooling_avg_include_padding
                           : dnnl::algorithm::pooling_avg_exclude_padding);
    spec.src = src;
    spec.dst.assign(geometry.output.begin(), geometry.output.end());
    spec.strides = window.strides;
    spec.kernel = window.kernel;
    for (const int64_t d : window.dilations) spec.dilations.push_back(d - 1);
    spec.pads_begin = window.pads_begin;
    spec.pads_end = pads_end;
    pool = MakePoolPrimitive(context.dnn()->engine, spec);
  }));
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId x,
                           context.In(node.inputs[0], pool.src));
  return Guarded(node.op, [&] {
    Kernel kernel = PrimitiveKernel(context.dnn(), pool,
                                    {{DNNL_ARG_SRC, pool.src, false, 0},
                                     {DNNL_ARG_DST, pool.dst, true, 0}});
    const plan::BufferId y = context.DefineIn(node.outputs[0], pool.dst);
    context.AddStep(node.op + ":" + pool.name, std::move(kernel), {x}, {y});
  });
}

}  // namespace reprise::cpu
