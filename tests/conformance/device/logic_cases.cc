// Comparisons and logic, Where, Clip and casts.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/ops/onnx_dtype.h"
#include "tests/conformance/device/op_case.h"

namespace reprise::conformance {
namespace {

using Cases = std::vector<OpCase>;

// Few different numbers, so that many pairs are equal.
constexpr Values kFew{.low = 0, .high = 1.5, .step = 0.5};

Cases PairCases(const OpRow& row, DType dtype) {
  const auto in = [&](Dims dims) { return Input(dtype, dims, row.values); };
  const auto weight = [&](Dims dims) {
    return Weight(dtype, dims, row.values);
  };
  return {{"[N]", {in({kN}), in({kN})}},
          {"31", {in({kN, 31}), in({kN, 31})}},
          {"1025", {in({kN, 1025}), in({kN, 1025})}},
          {"8208", {in({kN, 8208}), in({kN, 8208})}},
          {"row", {in({kN, 4, 16}), weight({16})}},
          {"scalar first", {weight({}), in({kN, 33})}},
          {"column and row", {in({kN, 7, 1}), in({kN, 1, 33})}},
          {"scalars", {in({}), in({})}},
          {"empty", {in({kN, 0}), in({kN, 1})}},
          {"special",
           {Input(dtype, {kN, 67}, Values{.special = Special::kNan}),
            Input(dtype, {kN, 67}, Values{.special = Special::kNan})}}};
}

Cases NotCases(const OpRow&, DType dtype) {
  Cases cases;
  for (const Dims& dims : {Dims{kN}, Dims{kN, 31}, Dims{kN, 33}, Dims{kN, 1025},
                           Dims{kN, 0}, Dims{}}) {
    cases.push_back({DimsText(dims), {Input(dtype, dims)}});
  }
  return cases;
}

Cases WhereCases(const OpRow&, DType dtype) {
  const auto where = [&](const std::string& name, Dims condition, Dims a,
                         Dims b) {
    return OpCase{name,
                  {Input(DType::kBool, std::move(condition)),
                   Input(dtype, std::move(a)), Input(dtype, std::move(b))}};
  };
  Cases cases = {
      where("[N]", {kN}, {kN}, {kN}),
      where("31", {kN, 31}, {kN, 31}, {kN, 31}),
      where("1024", {kN, 1024}, {kN, 1024}, {kN, 1024}),
      where("1025", {kN, 1025}, {kN, 1025}, {kN, 1025}),
      where("condition of rows", {kN, 1}, {kN, 33}, {kN, 33}),
      where("three ways", {kN, 1, 1, 5}, {kN, 3, 1, 1}, {kN, 1, 4, 1}),
      where("scalars", {}, {}, {}),
      where("empty", {kN, 0}, {kN, 1}, {kN, 1}),
  };
  cases.push_back({"weights",
                   {Input(DType::kBool, {kN, 4, 16}), Weight(dtype, {16}),
                    Weight(dtype, {})}});
  return cases;
}

Cases ClipCases(const OpRow&, DType dtype) {
  const auto bound = [&](double value) { return Given(dtype, {}, {value}); };
  Cases cases;
  for (const Dims& dims :
       {Dims{kN}, Dims{kN, 31}, Dims{kN, 1025}, Dims{kN, 0}, Dims{}}) {
    cases.push_back({DimsText(dims), {Input(dtype, dims), bound(1), bound(2)}});
  }
  cases.push_back({"low", {Input(dtype, {kN, 33}), bound(2)}});
  cases.push_back({"high", {Input(dtype, {kN, 33}), Absent(), bound(2)}});
  cases.push_back({"none", {Input(dtype, {kN, 33})}});
  cases.push_back(
      {"low above high", {Input(dtype, {kN, 33}), bound(3), bound(1)}});
  cases.push_back({"computed bounds",
                   {Input(dtype, {33}), Input(dtype, {}, {.low = 0, .high = 1}),
                    Input(dtype, {}, {.low = 2, .high = 3})}});
  cases.push_back({"special",
                   {Input(dtype, {kN, 31}, {.special = Special::kNan}),
                    bound(1), bound(2)}});
  cases.push_back({"special and many",
                   {Input(dtype, {kN, 8209}, {.special = Special::kEnds}),
                    bound(1), bound(2)}});
  if (IsFloat(dtype)) {
    cases.push_back({"attributes",
                     {Input(dtype, {kN, 33})},
                     {{"min", -1.0F}, {"max", 2.0F}},
                     1,
                     6});
  }
  return cases;
}

// ONNX's number of a type.
int64_t OnnxNumber(DType dtype) {
  constexpr int64_t kLast = 16;
  for (int64_t number = 1; number <= kLast; ++number) {
    const auto known = ops::DTypeFromOnnx(number);
    if (known.ok() && *known == dtype) return number;
  }
  return 0;
}

// What both types can hold, in 8 bits.
Values CastValues(DType from, DType to) {
  Values values{.low = -64, .high = 63.5, .step = 0.5};
  const bool sign = to == DType::kInt8 || to == DType::kInt16 ||
                    to == DType::kInt32 || to == DType::kInt64 || IsFloat(to);
  // C++ does not say what a negative float is without a sign.
  if (IsFloat(from) && !sign) values.low = 0;
  return values;
}

Cases CastCases(const OpRow& row, DType dtype) {
  Cases cases;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto to = static_cast<DType>(i);
    if (to == DType::kString) continue;
    const Values values = CastValues(dtype, to);
    for (const Dims& dims :
         {Dims{kN}, Dims{kN, 31}, Dims{kN, 1025}, Dims{kN, 0}, Dims{}}) {
      OpCase one{absl::StrCat(DimsText(dims), " to ", DTypeName(to)),
                 {Input(dtype, dims, values)}};
      if (row.op == "CastLike") {
        one.operands.push_back(Weight(to, {1}));
      } else {
        one.attributes = {{"to", OnnxNumber(to)}};
      }
      cases.push_back(std::move(one));
    }
  }
  return cases;
}

constexpr OpRow kRows[] = {
    {"Equal", kAll, PairCases, kFew, true},
    {"Greater", kNumbers, PairCases, kFew, true},
    {"GreaterOrEqual", kNumbers, PairCases, kFew, true},
    {"Less", kNumbers, PairCases, kFew, true},
    {"LessOrEqual", kNumbers, PairCases, kFew, true},
    {"And", kBools, PairCases, {}, true},
    {"Or", kBools, PairCases, {}, true},
    {"Xor", kBools, PairCases, {}, true},
    {"Not", kBools, NotCases, {}, true},
    {"Where", kAll, WhereCases, {}, true},
    {"Clip", kNumbers, ClipCases, {}, true},
    {"Cast", kAll, CastCases, {}, true},
    {"CastLike", kAll, CastCases, {}, true},
};

}  // namespace

std::span<const OpRow> LogicRows() { return kRows; }

}  // namespace reprise::conformance
