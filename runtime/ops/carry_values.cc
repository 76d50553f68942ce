#include "runtime/ops/carry_values.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "runtime/base/status_macros.h"
#include "runtime/ops/layout.h"
#include "runtime/ops/reduce.h"
#include "runtime/ops/reshape.h"
#include "runtime/tensor/shape.h"

namespace reprise::ops {
namespace {

using Tensors = std::vector<HostTensor>;

bool Carried(DType dtype) {
  return dtype == DType::kBool || dtype == DType::kInt32 ||
         dtype == DType::kInt64 || dtype == DType::kFp32;
}

// Numbers of one tensor: integers (and BOOL) exactly, FP32 as double.
struct Numbers {
  bool real = false;
  std::vector<int64_t> ints;
  std::vector<double> reals;
  size_t size() const { return real ? reals.size() : ints.size(); }
};

Numbers Load(const HostTensor& tensor) {
  Numbers out;
  const auto fill = [&out](auto values) {
    out.ints.assign(values.begin(), values.end());
  };
  switch (tensor.dtype()) {
    case DType::kFp32: {
      const auto values = tensor.values<float>();
      out.real = true;
      out.reals.assign(values.begin(), values.end());
      break;
    }
    case DType::kInt64:
      fill(tensor.values<int64_t>());
      break;
    case DType::kInt32:
      fill(tensor.values<int32_t>());
      break;
    default:
      fill(tensor.values<uint8_t>());
      break;
  }
  return out;
}

int64_t ToInt(double value) {  // saturating; NaN is 0
  if (std::isnan(value)) return 0;
  if (value >= 0x1p63) return std::numeric_limits<int64_t>::max();
  if (value < -0x1p63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

absl::StatusOr<Tensors> Store(const Numbers& numbers, const TensorType& type) {
  REPRISE_ASSIGN_OR_RETURN(HostTensor tensor,
                           HostTensor::Create(type.dtype, type.dims));
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double real =
        numbers.real ? numbers.reals[i] : static_cast<double>(numbers.ints[i]);
    const int64_t integer = numbers.real ? ToInt(real) : numbers.ints[i];
    switch (type.dtype) {
      case DType::kFp32:
        tensor.values<float>()[i] = static_cast<float>(real);
        break;
      case DType::kInt64:
        tensor.values<int64_t>()[i] = integer;
        break;
      case DType::kInt32:
        tensor.values<int32_t>()[i] = static_cast<int32_t>(integer);
        break;
      default:
        tensor.values<uint8_t>()[i] = numbers.real ? real != 0 : integer != 0;
        break;
    }
  }
  Tensors out;
  out.push_back(std::move(tensor));
  return out;
}

// ---- Arithmetic.

using IntFn = std::optional<int64_t> (*)(int64_t, int64_t);
using RealFn = double (*)(double, double);
struct BinaryFn {
  IntFn ints;
  RealFn reals;
};

int64_t Wrap(uint64_t bits) { return static_cast<int64_t>(bits); }
uint64_t Bits(int64_t value) { return static_cast<uint64_t>(value); }

std::optional<int64_t> DivInt(int64_t x, int64_t y) {
  if (y == 0) return std::nullopt;
  if (y == -1) return Wrap(0 - Bits(x));
  return x / y;
}

std::optional<int64_t> ModInt(int64_t x, int64_t y) {
  if (y == 0) return std::nullopt;
  if (y == -1) return 0;
  const int64_t rest = x % y;  // takes the sign of the divisor
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

const BinaryFn* FindBinary(absl::string_view op) {
  using I = std::optional<int64_t>;
  static const auto& table =
      *new absl::flat_hash_map<absl::string_view, BinaryFn>{
          {"Add",
           {[](int64_t x, int64_t y) -> I { return Wrap(Bits(x) + Bits(y)); },
            [](double x, double y) { return x + y; }}},
          {"Sub",
           {[](int64_t x, int64_t y) -> I { return Wrap(Bits(x) - Bits(y)); },
            [](double x, double y) { return x - y; }}},
          {"Mul",
           {[](int64_t x, int64_t y) -> I { return Wrap(Bits(x) * Bits(y)); },
            [](double x, double y) { return x * y; }}},
          {"Div", {DivInt, [](double x, double y) { return x / y; }}},
          {"Mod", {ModInt, nullptr}},
          {"Min",
           {[](int64_t x, int64_t y) -> I { return std::min(x, y); },
            [](double x, double y) { return std::isnan(x) || x < y ? x : y; }}},
          {"Max",
           {[](int64_t x, int64_t y) -> I { return std::max(x, y); },
            [](double x, double y) { return std::isnan(x) || x > y ? x : y; }}},
          {"Equal",
           {[](int64_t x, int64_t y) -> I { return x == y; },
            [](double x, double y) { return x == y ? 1.0 : 0.0; }}},
          {"Greater",
           {[](int64_t x, int64_t y) -> I { return x > y; },
            [](double x, double y) { return x > y ? 1.0 : 0.0; }}},
          {"GreaterOrEqual",
           {[](int64_t x, int64_t y) -> I { return x >= y; },
            [](double x, double y) { return x >= y ? 1.0 : 0.0; }}},
          {"Less",
           {[](int64_t x, int64_t y) -> I { return x < y; },
            [](double x, double y) { return x < y ? 1.0 : 0.0; }}},
          {"LessOrEqual",
           {[](int64_t x, int64_t y) -> I { return x <= y; },
            [](double x, double y) { return x <= y ? 1.0 : 0.0; }}},
          {"And", {[](int64_t x, int64_t y) -> I { return x & y; }, nullptr}},
          {"Or", {[](int64_t x, int64_t y) -> I { return x | y; }, nullptr}},
          {"Xor", {[](int64_t x, int64_t y) -> I { return x ^ y; }, nullptr}},
      };
  const auto it = table.find(op);
  return it == table.end() ? nullptr : &it->second;
}

// For each element of `out`, the element of a tensor of `dims` that broadcasts
// to it.
std::vector<size_t> BroadcastIndex(const Dims& dims, const Dims& out) {
  const Dims strides = Strides(dims);
  const size_t skip = out.size() - dims.size();
  size_t count = 1;
  for (const int64_t extent : out) count *= static_cast<size_t>(extent);
  std::vector<size_t> index(count);
  for (size_t i = 0; i < count; ++i) {
    size_t rest = i;
    int64_t at = 0;
    for (size_t axis = out.size(); axis-- > 0;) {
      const int64_t position =
          static_cast<int64_t>(rest % static_cast<size_t>(out[axis]));
      rest /= static_cast<size_t>(out[axis]);
      if (axis >= skip && dims[axis - skip] != 1) {
        at += position * strides[axis - skip];
      }
    }
    index[i] = static_cast<size_t>(at);
  }
  return index;
}

Numbers Broadcast(const HostTensor& tensor, const Dims& out) {
  const Numbers in = Load(tensor);
  Numbers spread;
  spread.real = in.real;
  for (const size_t at : BroadcastIndex(tensor.dims(), out)) {
    if (in.real) {
      spread.reals.push_back(in.reals[at]);
    } else {
      spread.ints.push_back(in.ints[at]);
    }
  }
  return spread;
}

absl::StatusOr<Tensors> CarryBinary(const NodeView& view, const BinaryFn& fn,
                                    const TensorType& out) {
  Numbers left = Broadcast(*view.constant(0), out.dims);
  for (size_t k = 1; k < view.input_count(); ++k) {
    const Numbers right = Broadcast(*view.constant(k), out.dims);
    if (left.real != right.real || (left.real && fn.reals == nullptr)) {
      return Tensors{};
    }
    for (size_t i = 0; i < left.size(); ++i) {
      if (left.real) {
        left.reals[i] = fn.reals(left.reals[i], right.reals[i]);
        continue;
      }
      const std::optional<int64_t> value = fn.ints(left.ints[i], right.ints[i]);
      if (!value.has_value()) return Tensors{};
      left.ints[i] = *value;
    }
  }
  return Store(left, out);
}

absl::StatusOr<Tensors> CarryUnary(const NodeView& view,
                                   const TensorType& out) {
  Numbers numbers = Load(*view.constant(0));
  const absl::string_view op = view.op();
  for (int64_t& x : numbers.ints) {
    if (op == "Neg" || (op == "Abs" && x < 0)) x = Wrap(0 - Bits(x));
    if (op == "Not") x = x == 0 ? 1 : 0;
  }
  for (double& x : numbers.reals) {
    if (op == "Neg") x = -x;
    if (op == "Abs") x = std::fabs(x);
    if (op == "Floor") x = std::floor(x);
    if (op == "Ceil") x = std::ceil(x);
  }
  return Store(numbers, out);
}

absl::StatusOr<Tensors> CarryWhere(const NodeView& view,
                                   const TensorType& out) {
  const Numbers condition = Broadcast(*view.constant(0), out.dims);
  Numbers chosen = Broadcast(*view.constant(1), out.dims);
  const Numbers other = Broadcast(*view.constant(2), out.dims);
  for (size_t i = 0; i < condition.size(); ++i) {
    if (condition.ints[i] != 0) continue;
    if (chosen.real) {
      chosen.reals[i] = other.reals[i];
    } else {
      chosen.ints[i] = other.ints[i];
    }
  }
  return Store(chosen, out);
}

absl::StatusOr<Tensors> CarryReduce(const NodeView& view,
                                    const TensorType& out) {
  REPRISE_ASSIGN_OR_RETURN(const ReduceParams params, ReadReduce(view));
  const Numbers in = Load(*view.constant(0));
  if (in.real || in.size() == 0) return Tensors{};
  Dims kept = view.dims(0);
  for (const int64_t axis : params.axes) kept[static_cast<size_t>(axis)] = 1;
  const BinaryFn* fn = FindBinary(view.op() == "ReduceProd"  ? "Mul"
                                  : view.op() == "ReduceSum" ? "Add"
                                  : view.op() == "ReduceMax" ? "Max"
                                                             : "Min");
  REPRISE_ASSIGN_OR_RETURN(const int64_t count, NumElements(kept));
  std::vector<std::optional<int64_t>> sums(static_cast<size_t>(count));
  const std::vector<size_t> target = BroadcastIndex(kept, view.dims(0));
  for (size_t i = 0; i < in.size(); ++i) {
    std::optional<int64_t>& sum = sums[target[i]];
    sum = sum.has_value() ? fn->ints(*sum, in.ints[i]) : in.ints[i];
  }
  Numbers result;
  for (const std::optional<int64_t>& sum : sums) {
    result.ints.push_back(sum.value_or(0));
  }
  return Store(result, out);
}

// ---- Makers.

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
    if (start.real) {
      numbers.reals.push_back(start.reals[0] +
                              static_cast<double>(i) * delta.reals[0]);
    } else {
      numbers.ints.push_back(start.ints[0] + i * delta.ints[0]);
    }
  }
  return Store(numbers, out);
}

// ---- Movers: they copy elements, whatever they are.

// out[i] = in[index[i]]
absl::StatusOr<Tensors> Move(const HostTensor& in, const TensorType& type,
                             const std::vector<size_t>& index) {
  REPRISE_ASSIGN_OR_RETURN(HostTensor out,
                           HostTensor::Create(type.dtype, type.dims));
  const size_t size = ElementSize(type.dtype);
  for (size_t i = 0; i < index.size(); ++i) {
    std::memcpy(out.bytes().data() + i * size,
                in.bytes().data() + index[i] * size, size);
  }
  Tensors tensors;
  tensors.push_back(std::move(out));
  return tensors;
}

absl::StatusOr<Tensors> CarryReshape(const NodeView& view,
                                     const TensorType& out) {
  REPRISE_ASSIGN_OR_RETURN(HostTensor tensor,
                           HostTensor::Create(out.dtype, out.dims));
  std::copy(view.constant(0)->bytes().begin(), view.constant(0)->bytes().end(),
            tensor.bytes().begin());
  Tensors tensors;
  tensors.push_back(std::move(tensor));
  return tensors;
}

absl::StatusOr<Tensors> CarryExpand(const NodeView& view,
                                    const TensorType& out) {
  return Move(*view.constant(0), out, BroadcastIndex(view.dims(0), out.dims));
}

// out[o, i...] = in at start + i * step on each axis.
std::vector<size_t> StridedIndex(const Dims& in, const SliceParams& params) {
  const Dims strides = Strides(in);
  std::vector<size_t> index{0};
  for (size_t axis = 0; axis < in.size(); ++axis) {
    std::vector<size_t> next;
    for (const size_t base : index) {
      for (int64_t i = 0; i < params.extents[axis]; ++i) {
        const int64_t at = params.starts[axis] + i * params.steps[axis];
        next.push_back(base + static_cast<size_t>(at * strides[axis]));
      }
    }
    index = std::move(next);
  }
  return index;
}

absl::StatusOr<Tensors> CarrySlice(const NodeView& view,
                                   const TensorType& out) {
  REPRISE_ASSIGN_OR_RETURN(const SliceParams params, ReadSlice(view));
  return Move(*view.constant(0), out, StridedIndex(view.dims(0), params));
}

absl::StatusOr<Tensors> CarrySplit(const NodeView& view,
                                   std::span<const TensorType> outputs) {
  REPRISE_ASSIGN_OR_RETURN(const SplitParams split, ReadSplit(view));
  const Dims& dims = view.dims(0);
  SliceParams part{std::vector<int64_t>(dims.size(), 0),
                   std::vector<int64_t>(dims.size(), 1),
                   std::vector<int64_t>(dims.begin(), dims.end())};
  const size_t axis = static_cast<size_t>(split.axis);
  Tensors tensors;
  for (size_t i = 0; i < outputs.size(); ++i) {
    part.extents[axis] = split.sizes[i];
    REPRISE_ASSIGN_OR_RETURN(Tensors one, Move(*view.constant(0), outputs[i],
                                               StridedIndex(dims, part)));
    tensors.push_back(std::move(one[0]));
    part.starts[axis] += split.sizes[i];
  }
  return tensors;
}

absl::StatusOr<Tensors> CarryTranspose(const NodeView& view,
                                       const TensorType& out) {
  REPRISE_ASSIGN_OR_RETURN(const std::vector<int64_t> perm,
                           ReadTransposePerm(view));
  const Dims strides = Strides(view.dims(0));
  std::vector<size_t> index{0};
  for (size_t axis = 0; axis < perm.size(); ++axis) {
    std::vector<size_t> next;
    for (const size_t base : index) {
      for (int64_t i = 0; i < out.dims[axis]; ++i) {
        next.push_back(
            base +
            static_cast<size_t>(i * strides[static_cast<size_t>(perm[axis])]));
      }
    }
    index = std::move(next);
  }
  return Move(*view.constant(0), out, index);
}

absl::StatusOr<Tensors> CarryConcat(const NodeView& view,
                                    const TensorType& type) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis, ReadConcatAxis(view));
  REPRISE_ASSIGN_OR_RETURN(HostTensor out,
                           HostTensor::Create(type.dtype, type.dims));
  int64_t outer = 1;
  for (int64_t i = 0; i < axis; ++i) outer *= type.dims[static_cast<size_t>(i)];
  std::byte* target = out.bytes().data();
  for (int64_t row = 0; row < outer; ++row) {
    for (size_t i = 0; i < view.input_count(); ++i) {
      const std::span<const std::byte> in = view.constant(i)->bytes();
      const size_t part = in.size() / static_cast<size_t>(outer);
      std::copy_n(in.begin() + row * static_cast<int64_t>(part), part, target);
      target += part;
    }
  }
  Tensors tensors;
  tensors.push_back(std::move(out));
  return tensors;
}

absl::StatusOr<Tensors> CarryGather(const NodeView& view,
                                    const TensorType& out) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis, ReadGatherAxis(view));
  const Dims& dims = view.dims(0);
  const int64_t extent = dims[static_cast<size_t>(axis)];
  int64_t outer = 1;
  int64_t inner = 1;
  for (int64_t i = 0; i < view.rank(0); ++i) {
    if (i < axis) outer *= dims[static_cast<size_t>(i)];
    if (i > axis) inner *= dims[static_cast<size_t>(i)];
  }
  const Numbers indices = Load(*view.constant(1));
  std::vector<size_t> index;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t at : indices.ints) {
      if (at < 0) at += extent;
      if (at < 0 || at >= extent) {
        return BadNode("an index is out of range");
      }
      for (int64_t i = 0; i < inner; ++i) {
        index.push_back(static_cast<size_t>((o * extent + at) * inner + i));
      }
    }
  }
  return Move(*view.constant(0), out, index);
}

// ---- Which operator is carried how.

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
  if (const BinaryFn* fn = FindBinary(view.op()); fn != nullptr) {
    return CarryBinary(view, *fn, outputs[0]);
  }
  const CarryFn fn = FindCarry(view.op());
  return fn == nullptr ? Tensors{} : fn(view, outputs[0]);
}

}  // namespace reprise::ops
