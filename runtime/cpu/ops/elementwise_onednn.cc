// Element-wise operators and Concat by oneDNN: where the operands lie in
// blocks, or are so large that several threads pay.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/ops/lower.h"
#include "runtime/ops/elementwise.h"
#include "runtime/ops/layout.h"

namespace reprise::cpu {
namespace {

using dnnl::algorithm;

// Below so many elements a call of the library costs more than a simple loop;
// functions such as exp are worth it much earlier.
constexpr int64_t kMinElementsSimple = 32768;
constexpr int64_t kMinElementsCostly = 256;

// A function, and from how many elements on it is worth a call.
struct Function {
  Eltwise eltwise;
  int64_t min_elements = kMinElementsCostly;
};

std::optional<Function> Simple(absl::string_view op) {
  if (op == "Relu")
    return Function{{algorithm::eltwise_relu}, kMinElementsSimple};
  if (op == "Sigmoid") return Function{{algorithm::eltwise_logistic}};
  if (op == "Tanh") return Function{{algorithm::eltwise_tanh}};
  if (op == "Exp") return Function{{algorithm::eltwise_exp}};
  if (op == "Softplus") return Function{{algorithm::eltwise_soft_relu}};
  if (op == "Mish") return Function{{algorithm::eltwise_mish}};
  if (op == "HardSwish") {
    return Function{{algorithm::eltwise_hardswish}, kMinElementsSimple};
  }
  return std::nullopt;
}

absl::StatusOr<Function> FunctionOf(const ops::NodeView& view) {
  const absl::string_view op = view.op();
  if (const std::optional<Function> simple = Simple(op); simple.has_value()) {
    return *simple;
  }
  if (op == "Gelu") {
    REPRISE_ASSIGN_OR_RETURN(const bool tanh, ops::ReadGeluTanh(view));
    return Function{
        {tanh ? algorithm::eltwise_gelu_tanh : algorithm::eltwise_gelu_erf}};
  }
  if (op == "Clip") {
    REPRISE_ASSIGN_OR_RETURN(const ops::ClipParams clip, ops::ReadClip(view));
    constexpr double kMax = std::numeric_limits<float>::max();
    if (clip.low > clip.high) return ops::NotRunHere("empty Clip");
    return Function{
        {algorithm::eltwise_clip, static_cast<float>(std::max(clip.low, -kMax)),
         static_cast<float>(std::min(clip.high, kMax))},
        kMinElementsSimple};
  }
  if (op == "LeakyRelu" || op == "Elu") {
    REPRISE_ASSIGN_OR_RETURN(const ops::UnaryParams params,
                             ops::ReadUnary(view));
    return op == "Elu" ? Function{{algorithm::eltwise_elu, params.alpha}}
                       : Function{{algorithm::eltwise_relu, params.alpha},
                                  kMinElementsSimple};
  }
  return ops::NotRunHere("not a function that oneDNN has");
}

std::optional<algorithm> BinaryOf(absl::string_view op) {
  if (op == "Add" || op == "Sum") return algorithm::binary_add;
  if (op == "Sub") return algorithm::binary_sub;
  if (op == "Mul") return algorithm::binary_mul;
  if (op == "Div") return algorithm::binary_div;
  return std::nullopt;
}

// `dims` with ones in front, up to `rank`.
Dims Widened(const Dims& dims, size_t rank) {
  Dims wide(rank - dims.size(), 1);
  wide.insert(wide.end(), dims.begin(), dims.end());
  return wide;
}

}  // namespace

absl::Status LowerUnaryOneDnn(LoweringContext& context,
                              const ops::NodeView& view) {
  const graph::Node& node = *view.node;
  // Clip's bounds are inputs of their own; input 0 alone is computed on.
  if (view.dtype(0) != DType::kFp32 || ElementCount(view.dims(0)) == 0 ||
      view.rank(0) > 5) {
    return ops::NotRunHere("oneDNN computes FP32");
  }
  REPRISE_ASSIGN_OR_RETURN(const Function function, FunctionOf(view));
  if (!context.IsBlocked(node.inputs[0]) &&
      ElementCount(view.dims(0)) < function.min_elements) {
    return ops::NotRunHere("not worth a call");
  }
  REPRISE_ASSIGN_OR_RETURN(const Layout layout, context.MadeIn(node.inputs[0]));
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId x,
                           context.In(node.inputs[0], layout));
  return Guarded(node.op, [&] {
    const Primitive eltwise =
        MakeEltwisePrimitive(context.dnn()->engine, function.eltwise, layout);
    Kernel kernel = PrimitiveKernel(
        context.dnn(), eltwise,
        {{DNNL_ARG_SRC, layout, false, 0}, {DNNL_ARG_DST, layout, true, 0}});
    context.AddStep(node.op + ":" + eltwise.name, std::move(kernel), {x},
                    {context.DefineIn(node.outputs[0], layout)});
  });
}

absl::Status LowerBinaryOneDnn(LoweringContext& context,
                               const ops::NodeView& view) {
  const graph::Node& node = *view.node;
  const std::optional<algorithm> kind = BinaryOf(view.op());
  if (!kind.has_value() || view.input_count() != 2 || !AllFp32(context, view) ||
      view.rank(0) > 5 || view.rank(0) == 0) {
    return ops::NotRunHere("not an operation that oneDNN has");
  }
  const Dims& y = context.bound().types[node.outputs[0]].dims;
  const bool same = view.dims(0) == y && view.dims(1) == y;
  const bool blocked = context.IsBlocked(node.inputs[0]) ||
                       (same && context.IsBlocked(node.inputs[1]));
  // A smaller right-hand side is broadcast; a smaller left-hand side never.
  if (view.dims(0) != y || (!blocked && ElementCount(y) < kMinElementsSimple)) {
    return ops::NotRunHere("not worth a call");
  }
  const size_t leader = context.IsBlocked(node.inputs[0]) ? 0 : (same ? 1 : 0);
  REPRISE_ASSIGN_OR_RETURN(const Layout layout,
                           context.MadeIn(node.inputs[leader]));
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId a,
                           context.In(node.inputs[0], layout));
  Layout right = layout;
  plan::BufferId b = plan::kNoBuffer;
  if (same) {
    REPRISE_ASSIGN_OR_RETURN(b, context.In(node.inputs[1], layout));
  } else {
    REPRISE_ASSIGN_OR_RETURN(b, context.Plain(node.inputs[1]));
  }
  return Guarded(node.op, [&] {
    if (!same) right = PlainLayout(Widened(view.dims(1), y.size()));
    const Primitive binary = MakeBinaryPrimitive(context.dnn()->engine, *kind,
                                                 layout, right, layout);
    Kernel kernel = PrimitiveKernel(context.dnn(), binary,
                                    {{DNNL_ARG_SRC_0, layout, false, 0},
                                     {DNNL_ARG_SRC_1, right, false, 1},
                                     {DNNL_ARG_DST, layout, true, 0}});
    context.AddStep(node.op + ":" + binary.name, std::move(kernel), {a, b},
                    {context.DefineIn(node.outputs[0], layout)});
  });
}

absl::Status LowerConcatOneDnn(LoweringContext& context,
                               const ops::NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis, ops::ReadConcatAxis(view));
  const graph::Node& node = *view.node;
  bool blocked = false;
  for (const graph::ValueId id : node.inputs) {
    blocked = blocked || context.IsBlocked(id);
  }
  if (!blocked || !AllFp32(context, view)) {
    return ops::NotRunHere("nothing lies in blocks");
  }
  std::vector<Layout> layouts;
  std::vector<plan::BufferId> reads;
  for (const graph::ValueId id : node.inputs) {
    REPRISE_ASSIGN_OR_RETURN(const Layout layout, context.MadeIn(id));
    REPRISE_ASSIGN_OR_RETURN(const plan::BufferId read, context.In(id, layout));
    layouts.push_back(layout);
    reads.push_back(read);
  }
  return Guarded(node.op, [&] {
    const Primitive concat = MakeConcatPrimitive(
        context.dnn()->engine, static_cast<int>(axis), layouts);
    std::vector<PrimitiveArg> args;
    for (size_t i = 0; i < layouts.size(); ++i) {
      args.push_back(
          {DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), layouts[i], false, i});
    }
    args.push_back({DNNL_ARG_DST, concat.dst, true, 0});
    Kernel kernel = PrimitiveKernel(context.dnn(), concat, args);
    context.AddStep(node.op + ":" + concat.name, std::move(kernel), reads,
                    {context.DefineIn(node.outputs[0], concat.dst)});
  });
}

}  // namespace reprise::cpu
