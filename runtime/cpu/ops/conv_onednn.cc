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

using Sizes = dnnl::memory::dims;
using dnnl::memory;

struct ConvDescs {
  memory::dims src;
  memory::dims weights;  // with the group in front where there are groups
  memory::dims dst;
  memory::dims strides, dilations, pads_begin, pads_end;
};

ConvDescs DescsOf(const ops::ConvGeometry& geometry,
                  const ops::NodeView& view) {
  ConvDescs descs;
  const Dims& x = view.dims(0);
  const Dims& w = view.dims(1);
  descs.src.assign(x.begin(), x.end());
  descs.dst.assign(geometry.output.begin(), geometry.output.end());
  descs.weights.assign(w.begin(), w.end());
  if (geometry.group > 1) {
    descs.weights[0] /= geometry.group;
    descs.weights.insert(descs.weights.begin(), geometry.group);
  }
  const ops::Window& window = geometry.window;
  descs.strides = window.strides;
  descs.pads_begin = window.pads_begin;
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    descs.dilations.push_back(window.dilations[i] - 1);
    // What the last window leaves over is not padding to oneDNN.
    const int64_t reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
    descs.pads_end.push_back((window.out[i] - 1) * window.strides[i] + reach -
                             x[i + 2] - window.pads_begin[i]);
  }
  return descs;
}

dnnl::convolution_forward::primitive_desc Describe(
    const ConvDescs& descs, bool constant_weights, bool bias,
    const dnnl::primitive_attr& attr, const dnnl::engine& engine) {
  using Tag = memory::format_tag;
  constexpr auto kF32 = memory::data_type::f32;
  const Layout src(descs.src, kF32, Tag::any);
  const Layout dst(descs.dst, kF32, Tag::any);
  const Layout weights =
      constant_weights
          ? Layout(descs.weights, kF32, Tag::any)
          : PlainLayout(Dims(descs.weights.begin(), descs.weights.end()));
  const Layout biases = bias ? Layout({descs.dst[1]}, kF32, Tag::a) : Layout();
  const dnnl::convolution_forward::desc desc(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
      src, weights, biases, dst, descs.strides, descs.dilations,
      descs.pads_begin, descs.pads_end);
  return {desc, attr, engine};
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
  const ConvDescs descs = DescsOf(geometry, view);
  const graph::Node& node = *view.node;
  dnnl::convolution_forward::primitive_desc pd;
  REPRISE_RETURN_IF_ERROR(Guarded("Conv", [&] {
    pd = Describe(descs, view.constant(1) != nullptr, geometry.has_bias, attr,
                  context.dnn()->engine);
  }));
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId src,
                           context.In(node.inputs[0], pd.src_desc()));
  plan::BufferId weights = plan::kNoBuffer;
  if (view.constant(1) != nullptr) {
    const Layout plain =
        PlainLayout(Dims(descs.weights.begin(), descs.weights.end()));
    REPRISE_ASSIGN_OR_RETURN(
        const std::byte* packed,
        context.weights().Packed(*context.dnn(),
                                 context.bound().constants[node.inputs[1]],
                                 plain, pd.weights_desc(), 1));
    weights = context.AddConstant(
        "packed", packed, static_cast<int64_t>(pd.weights_desc().get_size()));
  } else {
    REPRISE_ASSIGN_OR_RETURN(weights, context.Plain(node.inputs[1]));
  }
  std::vector<PrimitiveArg> args = {
      {DNNL_ARG_SRC, pd.src_desc(), false, 0},
      {DNNL_ARG_WEIGHTS, pd.weights_desc(), false, 1},
      {DNNL_ARG_DST, pd.dst_desc(), true, 0}};
  std::vector<plan::BufferId> reads = {src, weights};
  if (geometry.has_bias) {
    REPRISE_ASSIGN_OR_RETURN(const plan::BufferId bias,
                             context.Plain(node.inputs[2]));
    args.push_back({DNNL_ARG_BIAS, pd.bias_desc(), false, 2});
    reads.push_back(bias);
  }
  return Guarded("Conv", [&] {
    Kernel kernel =
        PrimitiveKernel(context.dnn(), dnnl::convolution_forward(pd), args,
                        pd.scratchpad_desc());
    const plan::BufferId dst = context.DefineIn(node.outputs[0], pd.dst_desc());
    context.AddStep(std::string("Conv:") + pd.impl_info_str(),
                    std::move(kernel), std::move(reads), {dst});
  });
}

}  // namespace reprise::cpu
