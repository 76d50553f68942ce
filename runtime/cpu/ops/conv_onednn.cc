// Convolution by oneDNN, in whatever blocks it likes best.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/ops/lower.h"
#include "runtime/ops/activation.h"
#include "runtime/ops/conv.h"

namespace reprise::cpu {
namespace {

using dnnl::memory;

// The dims of the weights, with the group in front where there are groups.
Dims WeightDims(const ops::ConvGeometry& geometry, const ops::NodeView& view) {
  Dims dims = view.dims(1);
  if (geometry.group > 1) {
    dims[0] /= geometry.group;
    dims.insert(dims.begin(), geometry.group);
  }
  return dims;
}

// All of it but the layout of the weights.
ConvSpec SpecOf(const ops::ConvGeometry& geometry, const ops::NodeView& view) {
  ConvSpec spec;
  const Dims& x = view.dims(0);
  spec.src.assign(x.begin(), x.end());
  spec.dst.assign(geometry.output.begin(), geometry.output.end());
  spec.has_bias = geometry.has_bias;
  const ops::Window& window = geometry.window;
  spec.strides = window.strides;
  spec.pads_begin = window.pads_begin;
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    spec.dilations.push_back(window.dilations[i] - 1);
    // What the last window leaves over is not padding to oneDNN.
    const int64_t reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
    spec.pads_end.push_back((window.out[i] - 1) * window.strides[i] + reach -
                            x[i + 2] - window.pads_begin[i]);
  }
  return spec;
}

}  // namespace

absl::Status LowerConvOneDnn(LoweringContext& context,
                             const ops::NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const ops::ConvGeometry geometry,
                           ops::ReadConv(view));
  REPRISE_ASSIGN_OR_RETURN(const ops::Activation activation,
                           ops::ReadActivation(*view.node));
  dnnl::primitive_attr attr;
  if (!AllFp32(context, view) || geometry.window.kernel.size() > 3 ||
      !SetActivationAttr(activation, attr)) {
    return ops::NotRunHere("not a convolution that oneDNN has");
  }
  ConvSpec spec = SpecOf(geometry, view);
  const Dims weight_dims = WeightDims(geometry, view);
  const graph::Node& node = *view.node;
  const bool constant = view.constant(1) != nullptr;
  Primitive conv;
  Layout plain_weights;
  REPRISE_RETURN_IF_ERROR(Guarded("Conv", [&] {
    plain_weights = PlainLayout(weight_dims);
    spec.weights =
        constant ? Layout(memory::dims(weight_dims.begin(), weight_dims.end()),
                          memory::data_type::f32, memory::format_tag::any)
                 : plain_weights;
    conv = MakeConvPrimitive(context.dnn()->engine, spec, attr);
  }));
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId src,
                           context.In(node.inputs[0], conv.src));
  plan::BufferId weights = plan::kNoBuffer;
  if (constant) {
    REPRISE_ASSIGN_OR_RETURN(
        const std::byte* packed,
        context.weights().Packed(*context.dnn(),
                                 context.bound().constants[node.inputs[1]],
                                 plain_weights, conv.weights, 1));
    weights = context.AddConstant(
        "packed", packed, static_cast<int64_t>(conv.weights.get_size()));
  } else {
    REPRISE_ASSIGN_OR_RETURN(weights, context.Plain(node.inputs[1]));
  }
  std::vector<PrimitiveArg> args = {{DNNL_ARG_SRC, conv.src, false, 0},
                                    {DNNL_ARG_WEIGHTS, conv.weights, false, 1},
                                    {DNNL_ARG_DST, conv.dst, true, 0}};
  std::vector<plan::BufferId> reads = {src, weights};
  if (geometry.has_bias) {
    REPRISE_ASSIGN_OR_RETURN(const plan::BufferId bias,
                             context.Plain(node.inputs[2]));
    args.push_back({DNNL_ARG_BIAS, conv.bias, false, 2});
    reads.push_back(bias);
  }
  return Guarded("Conv", [&] {
    Kernel kernel = PrimitiveKernel(context.dnn(), conv, args);
    const plan::BufferId dst = context.DefineIn(node.outputs[0], conv.dst);
    context.AddStep("Conv:" + conv.name, std::move(kernel), std::move(reads),
                    {dst});
  });
}

}  // namespace reprise::cpu
