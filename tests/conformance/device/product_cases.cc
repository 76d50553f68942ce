// Matrix products, and Gather.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/conformance/device/op_case.h"

namespace reprise::conformance {
namespace {

using Cases = std::vector<OpCase>;

std::string NameOf(const std::vector<Operand>& operands) {
  std::string name;
  for (const Operand& operand : operands) {
    absl::StrAppend(&name, name.empty() ? "" : " x ", DimsText(operand.dims),
                    operand.from == From::kWeight ? "w" : "");
  }
  return name;
}

Cases MatMulCases(const OpRow& row, DType dtype) {
  Cases cases;
  const auto add = [&](Operand a, Operand b) {
    a.values = b.values = row.values;
    std::vector<Operand> operands = {std::move(a), std::move(b)};
    std::string name = NameOf(operands);
    cases.push_back({std::move(name), std::move(operands)});
  };
  const auto in = [&](Dims dims) { return Input(dtype, std::move(dims)); };
  const auto weight = [&](Dims dims) { return Weight(dtype, std::move(dims)); };
  for (const int64_t n : {1, 31, 33, 64}) {
    for (const int64_t k : {1, 31, 33, 128, 1025}) {
      add(in({kN, k}), weight({k, n}));
    }
  }
  add(in({kN, 16, 33}), weight({33, 31}));
  add(in({kN, 5, 31}), in({kN, 31, 7}));
  add(in({kN, 3, 16, 8}), in({kN, 3, 8, 16}));
  add(in({kN, 3, 5, 8}), weight({3, 8, 4}));
  add(in({kN, 1, 5, 8}), weight({3, 8, 4}));
  add(weight({5, 8}), in({kN, 8, 6}));
  add(in({kN, 4, 8}), weight({8}));
  add(weight({8}), in({kN, 8, 4}));
  add(in({kN, 4, 0}), weight({0, 3}));
  add(in({kN, 0, 4}), weight({4, 3}));
  add(in({7, 9}), in({9, 5}));
  add(in({9}), in({9}));
  add(in({2, 1, 3, 4}), in({3, 4, 2}));
  return cases;
}

Cases GemmCases(const OpRow& row, DType dtype) {
  Cases cases;
  const auto add = [&](std::vector<Operand> operands,
                       std::vector<NamedAttribute> attributes) {
    for (Operand& operand : operands) operand.values = row.values;
    std::string name = NameOf(operands);
    for (const NamedAttribute& attribute : attributes) {
      absl::StrAppend(&name, " ", attribute.first);
    }
    cases.push_back(
        {std::move(name), std::move(operands), std::move(attributes)});
  };
  const auto in = [&](Dims dims) { return Input(dtype, std::move(dims)); };
  const auto weight = [&](Dims dims) { return Weight(dtype, std::move(dims)); };
  const NamedAttribute turn_b{"transB", int64_t{1}};
  const NamedAttribute turn_a{"transA", int64_t{1}};
  for (const int64_t k : {1, 31, 33, 1025}) {
    add({in({kN, k}), weight({k, 33})}, {});
    add({in({kN, k}), weight({31, k}), weight({31})}, {turn_b});
  }
  add({in({kN, 64}), weight({64, 32}), weight({1})}, {});
  add({in({kN, 64}), weight({64, 32}), weight({})}, {});
  add({in({kN, 64}), weight({64, 32}), in({kN, 1})}, {});
  add({in({kN, 64}), weight({64, 32}), in({kN, 32})}, {});
  add({in({kN, 64}), weight({64, 32}), weight({1, 32})},
      {{"alpha", 0.5F}, {"beta", 2.0F}});
  add({in({kN, 64}), weight({64, 32}), in({kN, 32})},
      {{"alpha", 0.5F}, {"beta", -1.0F}});
  add({in({kN, 64}), weight({64, 32}), weight({32})}, {{"beta", 0.0F}});
  add({in({kN, 0}), weight({0, 3}), weight({3})}, {});
  add({in({9, 5}), in({9, 7})}, {turn_a});
  add({in({9, 5}), in({7, 9}), in({5, 7})}, {turn_a, turn_b});
  add({in({1, 1}), in({1, 1}), in({1, 1})}, {});
  add({in({40, 33}), in({33, 70}), in({70})}, {});
  return cases;
}

// `count` indices that go to and fro in [-extent, extent).
std::vector<double> Indices(int64_t count, int64_t extent) {
  std::vector<double> indices;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = i * 7 % extent;
    indices.push_back(static_cast<double>(i % 3 == 2 ? index - extent : index));
  }
  return indices;
}

Cases GatherCases(const OpRow&, DType dtype) {
  Cases cases;
  for (const DType type : {DType::kInt32, DType::kInt64}) {
    // Rows choose from a table, as words do.
    const auto lookup = [&](Dims table, int64_t axis, Dims chosen) {
      const auto extent = static_cast<double>(table[static_cast<size_t>(axis)]);
      cases.push_back({absl::StrCat(DimsText(chosen), " of ", DimsText(table),
                                    "w by ", DTypeName(type)),
                       {Weight(dtype, std::move(table)),
                        Input(type, std::move(chosen),
                              {.low = -extent, .high = extent - 1, .step = 1})},
                       {{"axis", axis}}});
    };
    // The same of every row.
    const auto choose = [&](Dims data, int64_t axis, Dims chosen) {
      const int64_t extent = data[static_cast<size_t>(axis)];
      cases.push_back(
          {absl::StrCat(DimsText(chosen), "w of ", DimsText(data), " by ",
                        DTypeName(type)),
           {Input(dtype, std::move(data)),
            Given(type, chosen, Indices(ElementCount(chosen), extent))},
           {{"axis", axis}}});
    };
    lookup({20, 16}, 0, {kN, 6});
    lookup({20, 33}, 0, {kN, 31});
    lookup({5}, 0, {kN});
    lookup({50, 1}, 0, {kN, 1025});
    lookup({20, 4}, 0, {kN, 0});
    lookup({7, 384}, 0, {4});
    choose({kN, 9, 16}, 1, {5});
    choose({kN, 9, 33}, 1, {});
    choose({kN, 3, 31}, 2, {2, 3});
    choose({kN, 1025}, 1, {1025});
    choose({kN, 4}, 1, {0});
    choose({6, 3}, 0, {4});
  }
  return cases;
}

constexpr Types kProductTypes =
    kFloats | TypeBit(DType::kInt32) | TypeBit(DType::kInt64) |
    TypeBit(DType::kUint32) | TypeBit(DType::kUint64);

constexpr OpRow kRows[] = {
    {"MatMul", kProductTypes, MatMulCases},
    {"Gemm", kProductTypes, GemmCases},
    {"Gather", kAll, GatherCases, {}, true},
};

}  // namespace

std::span<const OpRow> ProductRows() { return kRows; }

}  // namespace reprise::conformance
