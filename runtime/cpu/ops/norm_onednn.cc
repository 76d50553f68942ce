// Softmax and the normalisations by oneDNN.
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/ops/lower.h"
#include "runtime/ops/norm.h"
#include "runtime/ops/softmax.h"

namespace reprise::cpu {

absl::Status LowerSoftmaxOneDnn(LoweringContext& context,
                                const ops::NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const ops::SoftmaxParams params,
                           ops::ReadSoftmax(view));
  const graph::Node& node = *view.node;
  if (!AllFp32(context, view) || node.op == "Hardmax") {
    return ops::NotRunHere("not a softmax that oneDNN has");
  }
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId x,
                           context.Plain(node.inputs[0]));
  return Guarded(node.op, [&] {
    const Dims seen = params.inner == 1
                          ? Dims{params.outer, params.length}
                          : Dims{params.outer, params.length, params.inner};
    const Layout layout = PlainLayout(seen);
    const auto algorithm = node.op == "Softmax"
                               ? dnnl::algorithm::softmax_accurate
                               : dnnl::algorithm::softmax_log;
    const Primitive softmax = MakeSoftmaxPrimitive(
        context.dnn()->engine, algorithm, layout, /*axis=*/1);
    Kernel kernel = PrimitiveKernel(
        context.dnn(), softmax,
        {{DNNL_ARG_SRC, layout, false, 0}, {DNNL_ARG_DST, layout, true, 0}});
    context.AddStep(node.op + ":" + softmax.name, std::move(kernel), {x},
                    {context.Define(node.outputs[0])});
  });
}

absl::Status LowerLayerNormOneDnn(LoweringContext& context,
                                  const ops::NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const ops::LayerNormParams params,
                           ops::ReadLayerNorm(view));
  const graph::Node& node = *view.node;
  const auto whole = [&](size_t i) {
    return ElementCount(view.dims(i)) == params.inner;
  };
  const bool only_y = [&] {
    for (size_t i = 1; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != graph::kNoValue) return false;
    }
    return true;
  }();
  if (!AllFp32(context, view) || !only_y || !whole(1) ||
      (params.has_bias && !whole(2))) {
    return ops::NotRunHere("not a layer normalisation that oneDNN has");
  }
  std::vector<plan::BufferId> reads;
  for (size_t i = 0; i < (params.has_bias ? 3U : 2U); ++i) {
    REPRISE_ASSIGN_OR_RETURN(const plan::BufferId id,
                             context.Plain(node.inputs[i]));
    reads.push_back(id);
  }
  return Guarded(node.op, [&] {
    const Layout x = PlainLayout({params.outer, params.inner});
    const Layout row = PlainLayout({params.inner});
    const Primitive norm = MakeLayerNormPrimitive(
        context.dnn()->engine, x, params.epsilon, params.has_bias);
    std::vector<PrimitiveArg> args = {{DNNL_ARG_SRC, x, false, 0},
                                      {DNNL_ARG_SCALE, row, false, 1},
                                      {DNNL_ARG_DST, x, true, 0}};
    if (params.has_bias) args.push_back({DNNL_ARG_SHIFT, row, false, 2});
    Kernel kernel = PrimitiveKernel(context.dnn(), norm, args);
    context.AddStep(node.op + ":" + norm.name, std::move(kernel), reads,
                    {context.Define(node.outputs[0])});
  });
}

absl::Status LowerBatchNormOneDnn(LoweringContext& context,
                                  const ops::NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const ops::BatchNormParams params,
                           ops::ReadBatchNorm(view));
  const graph::Node& node = *view.node;
  if (!AllFp32(context, view) || view.rank(0) < 2 || view.rank(0) > 5) {
    return ops::NotRunHere("not a batch normalisation that oneDNN has");
  }
  REPRISE_ASSIGN_OR_RETURN(const Layout layout, context.MadeIn(node.inputs[0]));
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId x,
                           context.In(node.inputs[0], layout));
  std::vector<plan::BufferId> reads = {x};
  for (size_t i = 1; i < 5; ++i) {
    REPRISE_ASSIGN_OR_RETURN(const plan::BufferId id,
                             context.Plain(node.inputs[i]));
    reads.push_back(id);
  }
  return Guarded(node.op, [&] {
    const Layout row = PlainLayout({view.dims(0)[1]});
    const Primitive norm =
        MakeBatchNormPrimitive(context.dnn()->engine, layout, params.epsilon);
    Kernel kernel = PrimitiveKernel(context.dnn(), norm,
                                    {{DNNL_ARG_SRC, layout, false, 0},
                                     {DNNL_ARG_SCALE, row, false, 1},
                                     {DNNL_ARG_SHIFT, row, false, 2},
                                     {DNNL_ARG_MEAN, row, false, 3},
                                     {DNNL_ARG_VARIANCE, row, false, 4},
                                     {DNNL_ARG_DST, layout, true, 0}});
    context.AddStep(node.op + ":" + norm.name, std::move(kernel), reads,
                    {context.DefineIn(node.outputs[0], layout)});
  });
}

absl::Status LowerLrnOneDnn(LoweringContext& context,
                            const ops::NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const ops::LrnParams params, ops::ReadLrn(view));
  const graph::Node& node = *view.node;
  // Even sizes reach further to one side than to the other here.
  if (!AllFp32(context, view) || view.rank(0) != 4 || params.size % 2 == 0) {
    return ops::NotRunHere("not an LRN that oneDNN has");
  }
  REPRISE_ASSIGN_OR_RETURN(const Layout layout, context.MadeIn(node.inputs[0]));
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId x,
                           context.In(node.inputs[0], layout));
  return Guarded(node.op, [&] {
    const Primitive lrn =
        MakeLrnPrimitive(context.dnn()->engine, layout,
                         {params.size, params.alpha, params.beta, params.bias});
    Kernel kernel = PrimitiveKernel(
        context.dnn(), lrn,
        {{DNNL_ARG_SRC, layout, false, 0}, {DNNL_ARG_DST, layout, true, 0}});
    context.AddStep(node.op + ":" + lrn.name, std::move(kernel), {x},
                    {context.DefineIn(node.outputs[0], layout)});
  });
}

}  // namespace reprise::cpu
