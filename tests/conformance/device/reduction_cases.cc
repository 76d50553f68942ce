// Reductions, and what works row by row: Softmax, LayerNormalization.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/conformance/device/op_case.h"

namespace reprise::conformance {
namespace {

using Cases = std::vector<OpCase>;
using Ints = std::vector<int64_t>;

// Sets of axes, by an input as opset 18 has them and by an attribute as before.
Cases ReduceCases(const OpRow& row, DType dtype) {
  const std::pair<Dims, Ints> shapes[] = {
      {{kN, 1}, {1}},        {{kN, 31}, {1}},     {{kN, 33}, {-1}},
      {{kN, 1025}, {1}},     {{kN, 8209}, {1}},   {{kN, 33, 5}, {1}},
      {{kN, 5, 33}, {2}},    {{kN, 3, 64}, {1}},  {{kN, 4, 3, 5}, {1, 3}},
      {{kN, 7, 9}, {1, 2}},  {{kN, 40, 70}, {1}}, {{kN, 2, 4097}, {1}},
      {{kN, 4, 33, 2}, {2}}, {{6, 5}, {0}},       {{3, 4}, {0, 1}}};
  Cases cases;
  for (const auto& [dims, axes] : shapes) {
    for (const int64_t keep : {0, 1}) {
      const std::string name = absl::StrCat(
          DimsText(dims), " over ", DimsText(axes), keep != 0 ? " kept" : "");
      cases.push_back({name,
                       {Input(dtype, dims, row.values), Int64Weight(axes)},
                       {{"keepdims", keep}}});
    }
  }
  cases.push_back({"all axes", {Input(dtype, {33, 5}, row.values)}});
  cases.push_back({"no axes",
                   {Input(dtype, {kN, 33}, row.values)},
                   {{"noop_with_empty_axes", int64_t{1}}}});
  cases.push_back({"axes as an attribute",
                   {Input(dtype, {kN, 5, 31}, row.values)},
                   {{"axes", Ints{1}}},
                   1,
                   11});
  return cases;
}

// Reductions that an empty axis leaves with an answer.
Cases EmptyCases(const OpRow& row, DType dtype) {
  return {{"empty axis", {Input(dtype, {kN, 0}, row.values), Int64Weight({1})}},
          {"nothing left",
           {Input(dtype, {kN, 0, 3}, row.values), Int64Weight({2})}}};
}

Cases SoftmaxCases(const OpRow&, DType dtype) {
  const std::pair<Dims, int64_t> shapes[] = {
      {{kN, 1}, 1},         {{kN, 31}, -1},     {{kN, 33}, 1},
      {{kN, 1025}, 1},      {{kN, 8209}, 1},    {{kN, 5, 33}, 1},
      {{kN, 5, 33}, -1},    {{kN, 3, 4, 5}, 2}, {{kN, 0}, 1},
      {{kN, 0, 3}, 2},      {{6, 7}, 0},        {{5}, 0},
      {{kN, 12, 16, 16}, 3}};
  Cases cases;
  for (const auto& [dims, axis] : shapes) {
    cases.push_back({absl::StrCat(DimsText(dims), " along ", axis),
                     {Input(dtype, dims)},
                     {{"axis", axis}}});
  }
  // Until opset 13, all axes from `axis` on.
  cases.push_back({"all axes from 1 on",
                   {Input(dtype, {kN, 3, 31})},
                   {{"axis", int64_t{1}}},
                   1,
                   11});
  cases.push_back(
      {"far apart",
       {Input(dtype, {kN, 33}, {.low = -64, .high = 64, .step = 1})},
       {{"axis", int64_t{1}}}});
  return cases;
}

Cases LayerNormCases(const OpRow&, DType dtype) {
  const auto norm = [&](Dims dims, Dims parameters, int64_t axis, bool bias) {
    OpCase one{absl::StrCat(DimsText(dims), " along ", axis,
                            bias ? " with a bias" : ""),
               {Input(dtype, std::move(dims)), Weight(dtype, parameters)},
               {{"axis", axis}}};
    if (bias) one.operands.push_back(Weight(dtype, parameters));
    return one;
  };
  Cases cases = {
      norm({kN, 2}, {2}, -1, true),       norm({kN, 31}, {31}, -1, true),
      norm({kN, 33}, {33}, 1, false),     norm({kN, 1025}, {1025}, -1, true),
      norm({kN, 8209}, {8209}, -1, true), norm({kN, 16, 48}, {48}, -1, true),
      norm({kN, 4, 6}, {4, 6}, 1, true),  norm({kN, 5, 33}, {1}, -1, true),
      norm({3, 32}, {32}, -1, true),      norm({kN, 0, 8}, {8}, -1, true)};
  OpCase sums = norm({kN, 3, 40}, {40}, -1, true);
  sums.name = "with mean and deviation";
  sums.outputs = 3;
  sums.fp32_only = true;
  if (dtype != DType::kFp64) cases.push_back(std::move(sums));
  OpCase epsilon = norm({kN, 33}, {33}, -1, true);
  epsilon.name = "epsilon";
  epsilon.attributes.emplace_back("epsilon", 0.5F);
  cases.push_back(std::move(epsilon));
  return cases;
}

constexpr Values kPositive{.low = 1.0 / 32};
constexpr Values kNearOne{.low = 0.9375, .high = 1.0625};
constexpr Types kWide = TypeBit(DType::kInt32) | TypeBit(DType::kInt64);

constexpr OpRow kRows[] = {
    {"ReduceL1", kFloats | kWide, ReduceCases},
    {"ReduceL1", kFloats | kWide, EmptyCases},
    {"ReduceL2", kFloats, ReduceCases},
    {"ReduceL2", kFloats, EmptyCases},
    {"ReduceLogSum", kFloats, ReduceCases, kPositive},
    {"ReduceLogSumExp", kFloats, ReduceCases},
    {"ReduceMax", kFloats | kWide, ReduceCases, {}, true},
    {"ReduceMean", kFloats | kWide, ReduceCases},
    {"ReduceMin", kFloats | kWide, ReduceCases, {}, true},
    {"ReduceProd", kFloats, ReduceCases, kNearOne},
    {"ReduceProd", kWide, ReduceCases},
    {"ReduceProd", kFloats | kWide, EmptyCases},
    {"ReduceSum", kFloats | kWide, ReduceCases},
    {"ReduceSum", kFloats | kWide, EmptyCases},
    {"ReduceSumSquare", kFloats | kWide, ReduceCases},
    {"ReduceSumSquare", kFloats | kWide, EmptyCases},
    {"Softmax", kFloats, SoftmaxCases},
    {"LogSoftmax", kFloats, SoftmaxCases},
    {"LayerNormalization", kFloats, LayerNormCases},
};

}  // namespace

std::span<const OpRow> ReductionRows() { return kRows; }

}  // namespace reprise::conformance
