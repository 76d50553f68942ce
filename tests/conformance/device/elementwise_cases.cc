// Functions of one number, and arithmetic of several that are broadcast.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/conformance/device/op_case.h"

namespace reprise::conformance {
namespace {

using Cases = std::vector<OpCase>;

// Few, so that the CPU device computes them by its own loops: oneDNN makes 0 or
// infinity of NaN.
constexpr Values kSpecial{.special = Special::kNan};
constexpr Values kEnds{.special = Special::kEnds};

const char* OriginOf(const Operand& operand) {
  return operand.from == From::kWeight ? "w" : "";
}

Cases UnaryCases(const OpRow& row, DType dtype) {
  Cases cases;
  for (const Dims& dims : {Dims{kN}, Dims{kN, 1}, Dims{kN, 31}, Dims{kN, 33},
                           Dims{kN, 1025}, Dims{kN, 7, 9}, Dims{kN, 0, 3},
                           Dims{kN, 8209}, Dims{}, Dims{2, 5}, Dims{0}}) {
    cases.push_back({DimsText(dims), {Input(dtype, dims, row.values)}});
  }
  cases.push_back({"special", {Input(dtype, {kN, 31}, kSpecial)}});
  // From some thousands of elements on, devices take other ways.
  cases.push_back({"special and many", {Input(dtype, {kN, 8209}, kEnds)}});
  return cases;
}

// One case for each set of attributes.
Cases WithAttributes(const OpRow& row, DType dtype,
                     std::vector<std::vector<NamedAttribute>> sets) {
  Cases cases;
  for (std::vector<NamedAttribute>& set : sets) {
    cases.push_back({absl::StrCat("attributes ", cases.size()),
                     {Input(dtype, {kN, 67}, row.values)},
                     std::move(set)});
  }
  return cases;
}

Cases AlphaCases(const OpRow& row, DType dtype) {
  return WithAttributes(row, dtype, {{{"alpha", 0.3F}}, {{"alpha", 1.5F}}});
}
Cases SeluCases(const OpRow& row, DType dtype) {
  return WithAttributes(row, dtype, {{{"alpha", 1.5F}, {"gamma", 0.5F}}});
}
Cases HardSigmoidCases(const OpRow& row, DType dtype) {
  return WithAttributes(row, dtype, {{{"alpha", 0.5F}, {"beta", 0.25F}}});
}
Cases GeluCases(const OpRow& row, DType dtype) {
  return WithAttributes(row, dtype, {{{"approximate", std::string("tanh")}}});
}
Cases IsInfCases(const OpRow& row, DType dtype) {
  return WithAttributes(
      row, dtype,
      {{{"detect_positive", int64_t{0}}}, {{"detect_negative", int64_t{0}}}});
}

// A large tensor, for one cheap function.
Cases LargeCases(const OpRow& row, DType dtype) {
  return {{"large", {Input(dtype, {kN, 262147}, row.values)}}};
}

// The second operand gives the first one's dims: no slope broadcasts x.
Cases SlopeCases(const OpRow& row, DType dtype) {
  const auto slope = [&](Dims x, Operand second) {
    second.values = row.values;
    return OpCase{DimsText(x) + DimsText(second.dims),
                  {Input(dtype, x, row.values), std::move(second)}};
  };
  return {slope({kN, 33}, Input(dtype, {kN, 33})),
          slope({kN, 7, 8}, Weight(dtype, {7, 1})),
          slope({kN, 7, 8}, Weight(dtype, {8})),
          slope({kN, 7, 8}, Weight(dtype, {})),
          slope({kN, 1025}, Input(dtype, {kN, 1})),
          slope({}, Input(dtype, {}))};
}

Cases BroadcastCases(const OpRow& row, DType dtype) {
  const auto both = [&](Operand a, Operand b) {
    std::string name = absl::StrCat(DimsText(a.dims), OriginOf(a),
                                    DimsText(b.dims), OriginOf(b));
    a.values = b.values = row.values;
    return OpCase{std::move(name), {std::move(a), std::move(b)}};
  };
  const auto in = [&](Dims dims) { return Input(dtype, std::move(dims)); };
  const auto weight = [&](Dims dims) { return Weight(dtype, std::move(dims)); };
  Cases cases = {
      both(in({kN}), in({kN})),
      both(in({kN, 1}), in({kN, 1})),
      both(in({kN, 31}), in({kN, 31})),
      both(in({kN, 1025}), in({kN, 1025})),
      both(in({kN, 8209}), in({kN, 1})),
      both(in({kN, 1}), in({kN, 33})),
      both(in({kN, 33}), weight({})),
      both(weight({1}), in({kN, 33})),
      both(in({kN, 4, 16}), weight({16})),
      both(weight({4, 1}), in({kN, 4, 16})),
      both(in({kN, 5, 31}), weight({1, 31})),
      both(in({kN, 7, 1}), in({kN, 1, 33})),
      both(in({kN, 1, 32}), in({kN, 6, 1})),
      both(in({kN, 2, 1, 4, 1}), in({kN, 1, 3, 1, 5})),
      both(in({kN, 0, 3}), weight({3})),
      both(in({}), in({})),
      both(in({0, 3}), in({3})),
      both(in({3, 1}), in({1, 12})),
      both(in({3, 1, 8}), in({2, 8})),
  };
  cases.push_back(
      {"special",
       {Input(dtype, {kN, 31}, kSpecial), Input(dtype, {kN, 31}, kSpecial)}});
  return cases;
}

Cases LargePairs(const OpRow& row, DType dtype) {
  return {{"large",
           {Input(dtype, {kN, 131, 1024}, row.values),
            Weight(dtype, {1024}, row.values)}}};
}

Cases ModCases(const OpRow& row, DType dtype) {
  Cases cases = BroadcastCases(row, dtype);
  for (OpCase& one : cases) {
    one.attributes = {{"fmod", int64_t{1}}};
  }
  if (!IsInteger(dtype)) return cases;
  for (OpCase& one : BroadcastCases(row, dtype)) {
    one.name += " floor";
    cases.push_back(std::move(one));
  }
  return cases;
}

Cases PowCases(const OpRow&, DType dtype) {
  Cases cases;
  for (const DType exponent : {DType::kFp32, DType::kFp16, DType::kBf16,
                               DType::kFp64, DType::kInt32, DType::kInt64}) {
    const Values bases = IsFloat(dtype) ? Values{.low = 0.25} : Values{};
    const Values exponents = IsFloat(dtype) ? Values{.low = -2, .high = 3}
                                            : Values{.low = 0, .high = 3};
    for (const Dims& dims : {Dims{kN, 1}, Dims{kN, 33}, Dims{kN, 1025}}) {
      cases.push_back(
          {absl::StrCat(DimsText(dims), " by ", DTypeName(exponent)),
           {Input(dtype, dims, bases), Input(exponent, dims, exponents)}});
    }
    cases.push_back({absl::StrCat("square by ", DTypeName(exponent)),
                     {Input(dtype, {kN, 33}, Values{.low = -4}),
                      Given(exponent, {}, {2})}});
    cases.push_back(
        {absl::StrCat("outer by ", DTypeName(exponent)),
         {Input(dtype, {3, 1}, bases), Input(exponent, {1, 5}, exponents)}});
  }
  return cases;
}

Cases VariadicCases(const OpRow& row, DType dtype) {
  const auto in = [&](Dims dims) { return Input(dtype, dims, row.values); };
  return {
      {"one", {in({kN, 33})}},
      {"two", {in({kN, 33}), in({kN, 33})}},
      {"two of 1025", {in({kN, 1025}), in({kN, 1025})}},
      {"column and row", {in({kN, 7, 1}), in({kN, 1, 31})}},
      {"three", {in({kN, 3, 1}), in({kN, 1, 4}), in({kN, 3, 4})}},
      {"with a weight",
       {in({kN, 4, 16}), Weight(dtype, {16}, row.values), in({kN, 1, 1})}},
      {"scalars", {in({}), in({}), in({})}},
      {"empty", {in({kN, 0}), in({kN, 1})}},
      {"special",
       {Input(dtype, {kN, 31}, kSpecial), Input(dtype, {kN, 31}, kSpecial)}}};
}

constexpr Values kUnit{.low = -1, .high = 1, .step = 1.0 / 64};
constexpr Values kInsideUnit{
    .low = -63.0 / 64, .high = 63.0 / 64, .step = 1.0 / 64};
constexpr Values kPositive{.low = 1.0 / 32};

constexpr OpRow kRows[] = {
    {"Acos", kFloats, UnaryCases, kUnit},
    {"Acosh", kFloats, UnaryCases, {.low = 1, .high = 5}},
    {"Asin", kFloats, UnaryCases, kUnit},
    {"Asinh", kFloats, UnaryCases},
    {"Atan", kFloats, UnaryCases},
    {"Atanh", kFloats, UnaryCases, kInsideUnit},
    {"Ceil", kFloats, UnaryCases, {}, true},
    {"Celu", kFloats, UnaryCases},
    {"Celu", kFloats, AlphaCases},
    {"Cos", kFloats, UnaryCases},
    {"Cosh", kFloats, UnaryCases},
    {"Elu", kFloats, UnaryCases},
    {"Elu", kFloats, AlphaCases},
    {"Erf", kFloats, UnaryCases},
    {"Exp", kFloats, UnaryCases},
    {"Floor", kFloats, UnaryCases, {}, true},
    {"Gelu", kFloats, UnaryCases},
    {"Gelu", kFloats, GeluCases},
    {"HardSigmoid", kFloats, UnaryCases},
    {"HardSigmoid", kFloats, HardSigmoidCases},
    {"HardSwish", kFloats, UnaryCases},
    {"LeakyRelu", kFloats, UnaryCases},
    {"LeakyRelu", kFloats, AlphaCases},
    {"Log", kFloats, UnaryCases, kPositive},
    {"Mish", kFloats, UnaryCases},
    {"Reciprocal", kFloats, UnaryCases},
    {"Round", kFloats, UnaryCases, {}, true},
    {"Selu", kFloats, UnaryCases},
    {"Selu", kFloats, SeluCases},
    {"Sigmoid", kFloats, UnaryCases},
    {"Sin", kFloats, UnaryCases},
    {"Sinh", kFloats, UnaryCases},
    {"Softplus", kFloats, UnaryCases},
    {"Softsign", kFloats, UnaryCases},
    {"Sqrt", kFloats, UnaryCases, kPositive},
    {"Tan", kFloats, UnaryCases, {.low = -1.25, .high = 1.25}},
    {"Tanh", kFloats, UnaryCases},
    {"ThresholdedRelu", kFloats, UnaryCases, {}, true},
    {"ThresholdedRelu", kFloats, AlphaCases, {}, true},
    {"IsNaN", kFloats, UnaryCases, kSpecial, true},
    {"IsInf", kFloats, UnaryCases, kSpecial, true},
    {"IsInf", kFloats, IsInfCases, kSpecial, true},
    {"Abs", kNumbers, UnaryCases, {}, true},
    {"Neg", kNumbers, UnaryCases, {}, true},
    {"Relu", kNumbers, UnaryCases, {}, true},
    {"Relu", kNumbers, LargeCases, {}, true},
    {"Sign", kNumbers, UnaryCases, {}, true},

    {"Add", kNumbers, BroadcastCases},
    {"Add", kNumbers, LargePairs},
    {"Sub", kNumbers, BroadcastCases},
    {"Mul", kNumbers, BroadcastCases},
    {"Div", kNumbers, BroadcastCases},
    {"PRelu", kNumbers, SlopeCases},
    {"Mod", kNumbers, ModCases},
    {"Pow", kFloats | TypeBit(DType::kInt32) | TypeBit(DType::kInt64),
     PowCases},
    {"Sum", kFloats, VariadicCases},
    {"Mean", kFloats, VariadicCases},
    {"Max", kNumbers, VariadicCases, {}, true},
    {"Min", kNumbers, VariadicCases, {}, true},
};

}  // namespace

std::span<const OpRow> ElementwiseRows() { return kRows; }

}  // namespace reprise::conformance
