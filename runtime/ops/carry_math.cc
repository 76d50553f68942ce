#include "runtime/ops/carry_math.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/base/status_macros.h"
#include "runtime/ops/elementwise.h"
#include "runtime/ops/reduce.h"
#include "runtime/tensor/shape.h"

namespace reprise::ops {
namespace {

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

std::optional<int64_t> CModInt(int64_t x, int64_t y) {
  if (y == 0) return std::nullopt;
  return y == -1 ? 0 : x % y;  // takes the sign of the dividend
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
            [](double x, double y) { return y < x || std::isnan(y) ? y : x; }}},
          {"Max",
           {[](int64_t x, int64_t y) -> I { return std::max(x, y); },
            [](double x, double y) { return y > x || std::isnan(y) ? y : x; }}},
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

}  // namespace

bool CarriesBinary(absl::string_view op) { return FindBinary(op) != nullptr; }

absl::StatusOr<Tensors> CarryBinary(const NodeView& view,
                                    const TensorType& out) {
  const BinaryFn* fn = FindBinary(view.op());
  if (fn == nullptr) return Tensors{};
  IntFn ints = fn->ints;
  if (view.op() == "Mod") {
    REPRISE_ASSIGN_OR_RETURN(const bool fmod, ReadFmod(view));
    if (fmod) ints = CModInt;
  }
  Numbers left = Broadcast(*view.constant(0), out.dims);
  for (size_t k = 1; k < view.input_count(); ++k) {
    const Numbers right = Broadcast(*view.constant(k), out.dims);
    if (left.real != right.real || (left.real && fn->reals == nullptr)) {
      return Tensors{};
    }
    for (size_t i = 0; i < left.size(); ++i) {
      if (left.real) {
        left.reals[i] = fn->reals(left.reals[i], right.reals[i]);
        continue;
      }
      const std::optional<int64_t> value = ints(left.ints[i], right.ints[i]);
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

}  // namespace reprise::ops
