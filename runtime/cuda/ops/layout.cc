// Operators that move elements, or only see them in other dims.
#include "runtime/ops/layout.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/kernels/params.h"
#include "runtime/cuda/ops/launch.h"
#include "runtime/cuda/ops/lower.h"
#include "runtime/cuda/ops/move.h"
#include "runtime/cuda/ops/walk.h"
#include "runtime/ops/generate.h"
#include "runtime/ops/slice.h"
#include "runtime/tensor/float16.h"

namespace reprise::cuda {
namespace {

absl::StatusOr<int64_t> ElementBytes(const LoweringContext& context,
                                     DType dtype) {
  if (dtype == DType::kString) return ops::NotRunHere("not run for BYTES");
  return static_cast<int64_t>(ElementSize(context.StoredAs(dtype)));
}

absl::Status Append(const Move& move, plan::BufferId from, plan::BufferId to,
                    std::vector<Action>& actions) {
  REPRISE_ASSIGN_OR_RETURN(std::optional<Action> action,
                           MoveAction(move, from, to));
  if (action.has_value()) actions.push_back(*std::move(action));
  return absl::OkStatus();
}

// Output 0 is made of one move from input 0; `move` lacks its element size.
absl::Status AddMove(LoweringContext& context, const ops::NodeView& view,
                     Move move) {
  const graph::Node& node = *view.node;
  REPRISE_ASSIGN_OR_RETURN(move.element_bytes,
                           ElementBytes(context, view.dtype(0)));
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId x,
                           context.Read(node.inputs[0]));
  const plan::BufferId y = context.Define(node.outputs[0]);
  std::vector<Action> actions;
  REPRISE_RETURN_IF_ERROR(Append(move, x, y, actions));
  context.AddStep(node.op, std::move(actions), {x}, {y});
  return absl::OkStatus();
}

template <typename T>
uint64_t BitsOf(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(value));
  return bits;
}

// The element of `dtype` that stands for `value`.
uint64_t ElementBits(DType dtype, double value) {
  switch (dtype) {
    case DType::kFp32:
      return BitsOf(static_cast<float>(value));
    case DType::kFp64:
      return BitsOf(value);
    case DType::kFp16:
      return BitsOf(Half(static_cast<float>(value)));
    case DType::kBf16:
      return BitsOf(BFloat16(static_cast<float>(value)));
    default:
      return static_cast<uint64_t>(static_cast<int64_t>(value));
  }
}

KernelLaunch FillLaunch(int64_t element_bytes, uint64_t bits, int64_t elements,
                        plan::BufferId to) {
  const kernels::FillParams params{.elements = elements, .bits = bits};
  return FlatLaunch(absl::StrCat("reprise_fill_", BytesSuffix(element_bytes)),
                    elements, {Place{to}, ByValue(params)});
}

}  // namespace

absl::Status LowerView(LoweringContext& context, const ops::NodeView& view) {
  const graph::Node& node = *view.node;
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != graph::kNoValue) {
      return ops::NotRunHere("a second output must be computed");
    }
  }
  return context.DefineView(node.outputs[0], node.inputs[0]);
}

absl::Status LowerTranspose(LoweringContext& context,
                            const ops::NodeView& view) {
  const graph::Node& node = *view.node;
  REPRISE_ASSIGN_OR_RETURN(std::vector<int64_t> perm,
                           ops::ReadTransposePerm(view));
  // What products alone read need not be turned over: rows stay together.
  const size_t rank = perm.size();
  const bool turned = rank >= 2 &&
                      perm[rank - 2] == static_cast<int64_t>(rank) - 1 &&
                      context.IsForProductsAlone(node.outputs[0]);
  if (turned) std::swap(perm[rank - 2], perm[rank - 1]);
  if (turned && std::ranges::is_sorted(perm)) {
    REPRISE_RETURN_IF_ERROR(
        context.DefineView(node.outputs[0], node.inputs[0]));
  } else {
    const Dims& in = view.dims(0);
    const Dims strides = Strides(in);
    Move move;
    for (const int64_t axis : perm) {
      move.dims.push_back(in[static_cast<size_t>(axis)]);
      move.from_strides.push_back(strides[static_cast<size_t>(axis)]);
    }
    move.to_strides = Strides(move.dims);
    REPRISE_RETURN_IF_ERROR(AddMove(context, view, std::move(move)));
  }
  if (turned) context.SetTurned(node.outputs[0]);
  return absl::OkStatus();
}

absl::Status LowerConcat(LoweringContext& context, const ops::NodeView& view) {
  const graph::Node& node = *view.node;
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis, ops::ReadConcatAxis(view));
  REPRISE_ASSIGN_OR_RETURN(const int64_t bytes,
                           ElementBytes(context, view.dtype(0)));
  const auto along = static_cast<size_t>(axis);
  const Dims out = Strides(context.DimsOf(node.outputs[0]));
  std::vector<plan::BufferId> reads;
  for (const graph::ValueId id : node.inputs) {
    REPRISE_ASSIGN_OR_RETURN(const plan::BufferId read, context.Read(id));
    reads.push_back(read);
  }
  const plan::BufferId y = context.Define(node.outputs[0]);
  std::vector<Action> actions;
  int64_t at = 0;
  for (size_t i = 0; i < reads.size(); ++i) {
    const Dims& dims = view.dims(i);
    REPRISE_RETURN_IF_ERROR(Append({.dims = dims,
                                    .from_strides = Strides(dims),
                                    .to_strides = out,
                                    .to = at * out[along],
                                    .element_bytes = bytes},
                                   reads[i], y, actions));
    at += dims[along];
  }
  context.AddStep(node.op, std::move(actions), std::move(reads), {y});
  return absl::OkStatus();
}

absl::Status LowerSplit(LoweringContext& context, const ops::NodeView& view) {
  const graph::Node& node = *view.node;
  REPRISE_ASSIGN_OR_RETURN(const ops::SplitParams params, ops::ReadSplit(view));
  REPRISE_ASSIGN_OR_RETURN(const int64_t bytes,
                           ElementBytes(context, view.dtype(0)));
  const Dims in = Strides(view.dims(0));
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId x,
                           context.Read(node.inputs[0]));
  std::vector<plan::BufferId> writes;
  std::vector<Action> actions;
  int64_t at = 0;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != graph::kNoValue) {
      const Dims& dims = context.DimsOf(node.outputs[i]);
      writes.push_back(context.Define(node.outputs[i]));
      REPRISE_RETURN_IF_ERROR(
          Append({.dims = dims,
                  .from_strides = in,
                  .to_strides = Strides(dims),
                  .from = at * in[static_cast<size_t>(params.axis)],
                  .element_bytes = bytes},
                 x, writes.back(), actions));
    }
    at += params.sizes[i];
  }
  context.AddStep(node.op, std::move(actions), {x}, std::move(writes));
  return absl::OkStatus();
}

absl::Status LowerSlice(LoweringContext& context, const ops::NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const ops::SliceParams params, ops::ReadSlice(view));
  const Dims in = Strides(view.dims(0));
  Move move;
  move.dims = context.DimsOf(view.node->outputs[0]);
  move.to_strides = Strides(move.dims);
  for (size_t i = 0; i < move.dims.size(); ++i) {
    move.from_strides.push_back(in[i] * params.steps[i]);
    if (move.dims[i] > 0) move.from += in[i] * params.starts[i];
  }
  return AddMove(context, view, std::move(move));
}

absl::Status LowerExpand(LoweringContext& context, const ops::NodeView& view) {
  Move move;
  move.dims = context.DimsOf(view.node->outputs[0]);
  move.to_strides = Strides(move.dims);
  move.from_strides = BroadcastStrides(view.dims(0), move.dims);
  return AddMove(context, view, std::move(move));
}

absl::Status LowerTile(LoweringContext& context, const ops::NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const std::vector<int64_t> repeats,
                           ops::ReadTileRepeats(view));
  const Dims& in = view.dims(0);
  const Dims strides = Strides(in);
  Move move;
  for (size_t i = 0; i < in.size(); ++i) {
    move.dims.push_back(repeats[i]);
    move.from_strides.push_back(0);
    move.dims.push_back(in[i]);
    move.from_strides.push_back(strides[i]);
  }
  move.to_strides = Strides(move.dims);
  return AddMove(context, view, std::move(move));
}

absl::Status LowerPad(LoweringContext& context, const ops::NodeView& view) {
  const graph::Node& node = *view.node;
  REPRISE_ASSIGN_OR_RETURN(const ops::PadParams params, ops::ReadPad(view));
  if (params.mode != ops::PadMode::kConstant || params.computed) {
    return ops::NotRunHere("only constant padding is run");
  }
  REPRISE_ASSIGN_OR_RETURN(const int64_t bytes,
                           ElementBytes(context, view.dtype(0)));
  const Dims& in = view.dims(0);
  const Dims& out = context.DimsOf(node.outputs[0]);
  Move move{.from_strides = Strides(in),
            .to_strides = Strides(out),
            .element_bytes = bytes};
  for (size_t i = 0; i < in.size(); ++i) {
    // What of the input is left: a negative pad crops.
    const int64_t first = std::max<int64_t>(0, -params.begins[i]);
    const int64_t end = in[i] + std::min<int64_t>(0, params.ends[i]);
    move.dims.push_back(std::max<int64_t>(0, end - first));
    move.from += first * move.from_strides[i];
    move.to += std::max<int64_t>(0, params.begins[i]) * move.to_strides[i];
  }
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId x,
                           context.Read(node.inputs[0]));
  const plan::BufferId y = context.Define(node.outputs[0]);
  std::vector<Action> actions = {FillLaunch(
      bytes, ElementBits(context.StoredAs(view.dtype(0)), params.value),
      ElementCount(out), y)};
  REPRISE_RETURN_IF_ERROR(Append(move, x, y, actions));
  context.AddStep(node.op, std::move(actions), {x}, {y});
  return absl::OkStatus();
}

absl::Status LowerConstantOfShape(LoweringContext& context,
                                  const ops::NodeView& view) {
  const graph::Node& node = *view.node;
  REPRISE_ASSIGN_OR_RETURN(const std::shared_ptr<const HostTensor> fill,
                           ops::ReadFill(view));
  const DType dtype = context.TypeOf(node.outputs[0]);
  REPRISE_ASSIGN_OR_RETURN(const int64_t bytes, ElementBytes(context, dtype));
  uint64_t bits = 0;
  if (fill != nullptr && fill->elements() == 1) {
    if (fill->dtype() == dtype) {
      std::memcpy(&bits, fill->bytes().data(), fill->bytes().size());
    } else {
      bits = ElementBits(dtype, static_cast<double>(fill->values<float>()[0]));
    }
  }
  const plan::BufferId y = context.Define(node.outputs[0]);
  context.AddStep(
      node.op,
      {FillLaunch(bytes, bits, ElementCount(context.DimsOf(node.outputs[0])),
                  y)},
      {}, {y});
  return absl::OkStatus();
}

}  // namespace reprise::cuda
