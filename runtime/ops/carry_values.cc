#include "runtime/ops/carry_values.h"

#include <algorithm>
#include <cstddef>

#include "absl/container/flat_hash_map.h"
#include "runtime/base/status_macros.h"
#include "runtime/ops/carry_math.h"
#include "runtime/ops/carry_moves.h"
#include "runtime/ops/carry_numbers.h"
#include "runtime/ops/generate.h"
#include "runtime/ops/reshape.h"
#include "runtime/tensor/shape.h"

namespace reprise::ops {
namespace {

absl::StatusOr<Tensors> CarryShape(const NodeView& view,
                                   const TensorType& out) {
  Numbers numbers;
  if (view.op() == "Size") {
    REPRISE_ASSIGN_OR_RETURN(const int64_t size, NumElements(view.dims(0)));
    numbers.ints = {size};
  } else {
    REPRISE_ASSIGN_OR_RETURN(const ShapeParams params, ReadShape(view));
    numbers.ints.assign(view.dims(0).begin() + params.start,
                        view.dims(0).begin() + params.end);
  }
  return Store(numbers, out);
}

absl::StatusOr<Tensors> CarryFill(const NodeView& view, const TensorType& out) {
  REPRISE_ASSIGN_OR_RETURN(const auto fill, ReadFill(view));
  return Store(Broadcast(*fill, out.dims.empty() ? Dims{1} : out.dims), out);
}

absl::StatusOr<Tensors> CarryRange(const NodeView& view,
                                   const TensorType& out) {
  const Numbers start = Load(*view.constant(0));
  const Numbers delta = Load(*view.constant(2));
  Numbers numbers;
  numbers.real = start.real;
  for (int64_t i = 0; i < out.dims[0]; ++i) {
    if (start.real) {  // in FP32, as the kernel does
      numbers.reals.push_back(static_cast<float>(start.reals[0]) +
                              static_cast<float>(i) *
                                  static_cast<float>(delta.reals[0]));
    } else {
      numbers.ints.push_back(static_cast<int64_t>(
          static_cast<uint64_t>(start.ints[0]) +
          static_cast<uint64_t>(i) * static_cast<uint64_t>(delta.ints[0])));
    }
  }
  return Store(numbers, out);
}

// How an operator is carried.
using CarryFn = absl::StatusOr<Tensors> (*)(const NodeView&, const TensorType&);

CarryFn FindCarry(absl::string_view op) {
  static const auto& table =
      *new absl::flat_hash_map<absl::string_view, CarryFn>{
          {"Reshape", CarryReshape},  {"Flatten", CarryReshape},
          {"Squeeze", CarryReshape},  {"Unsqueeze", CarryReshape},
          {"Identity", CarryReshape}, {"Neg", CarryUnary},
          {"Abs", CarryUnary},        {"Not", CarryUnary},
          {"Floor", CarryUnary},      {"Ceil", CarryUnary},
          {"Cast", CarryUnary},       {"CastLike", CarryUnary},
          {"Where", CarryWhere},      {"ReduceProd", CarryReduce},
          {"ReduceSum", CarryReduce}, {"ReduceMax", CarryReduce},
          {"ReduceMin", CarryReduce}, {"ConstantOfShape", CarryFill},
          {"Range", CarryRange},      {"Expand", CarryExpand},
          {"Slice", CarrySlice},      {"Transpose", CarryTranspose},
          {"Concat", CarryConcat},    {"Gather", CarryGather},
      };
  const auto it = table.find(op);
  return it == table.end() ? nullptr : it->second;
}

bool Small(DType dtype, const Dims& dims) {
  const absl::StatusOr<int64_t> elements = NumElements(dims);
  return Carried(dtype) && elements.ok() && *elements <= kMaxCarriedElements;
}

// Everything that the node reads and makes is known, small and of our dtypes.
bool CanCarry(const NodeView& view, std::span<const TensorType> outputs) {
  for (size_t i = 0; i < view.input_count(); ++i) {
    if (!view.Has(i)) continue;
    if (view.constant(i) == nullptr || !Small(view.dtype(i), view.dims(i))) {
      return false;
    }
  }
  return std::all_of(
      outputs.begin(), outputs.end(),
      [](const TensorType& type) { return Small(type.dtype, type.dims); });
}

}  // namespace

absl::StatusOr<std::vector<HostTensor>> CarryValues(
    const NodeView& view, std::span<const TensorType> outputs) {
  if (view.op() == "Shape" || view.op() == "Size") {
    return CarryShape(view, outputs[0]);
  }
  if (!CanCarry(view, outputs)) return Tensors{};
  if (view.op() == "Split") return CarrySplit(view, outputs);
  if (CarriesBinary(view.op())) return CarryBinary(view, outputs[0]);
  const CarryFn fn = FindCarry(view.op());
  return fn == nullptr ? Tensors{} : fn(view, outputs[0]);
}

}  // namespace reprise::ops
