// Operators that move elements, or see them in other dims.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/tensor/host_tensor.h"
#include "tests/conformance/device/op_case.h"

namespace reprise::conformance {
namespace {

using Cases = std::vector<OpCase>;
using Ints = std::vector<int64_t>;

// What a view of some dims needs besides.
struct ViewOf {
  Dims dims;
  Ints parameter = {};  // an input
  int64_t axis = 0;     // an attribute, of Flatten
};

Cases Views(absl::string_view op, DType dtype,
            const std::vector<ViewOf>& views) {
  Cases cases;
  for (const ViewOf& view : views) {
    OpCase one{
        absl::StrCat(DimsText(view.dims), " by ", DimsText(view.parameter)),
        {Input(dtype, view.dims)}};
    if (!view.parameter.empty()) {
      one.operands.push_back(Int64Weight(view.parameter));
    }
    if (op == "Flatten") one.attributes = {{"axis", view.axis}};
    cases.push_back(std::move(one));
  }
  return cases;
}

Cases SameCases(const OpRow& row, DType dtype) {
  return Views(row.op, dtype,
               {{{kN}}, {{kN, 31}}, {{kN, 1025}}, {{kN, 0}}, {{}}, {{3, 5}}});
}
Cases ReshapeCases(const OpRow& row, DType dtype) {
  return Views(row.op, dtype,
               {{{kN, 6}, {0, 2, 3}},
                {{kN, 4, 8, 33}, {0, -1}},
                {{kN, 0, 3}, {0, 0, 3}},
                {{12}, {3, 4}},
                {{1}, {1, 1, 1}}});
}
Cases FlattenCases(const OpRow& row, DType dtype) {
  return Views(row.op, dtype,
               {{{kN, 3, 11}, {}, 1}, {{kN, 0, 3}, {}, 1}, {{2, 3, 4}, {}, 2}});
}
Cases SqueezeCases(const OpRow& row, DType dtype) {
  return Views(row.op, dtype,
               {{{kN, 1, 33}, {1}}, {{kN, 1, 5, 1}, {1, -1}}, {{1, 3}, {0}}});
}
Cases UnsqueezeCases(const OpRow& row, DType dtype) {
  return Views(row.op, dtype,
               {{{kN, 33}, {1}}, {{kN, 5}, {1, 3}}, {{}, {0}}, {{kN, 0}, {2}}});
}

Cases TransposeCases(const OpRow&, DType dtype) {
  Cases cases;
  const std::pair<Dims, Ints> turns[] = {
      {{kN, 7, 9}, {0, 2, 1}},
      {{kN, 64, 96}, {0, 2, 1}},
      {{kN, 33, 65}, {0, 2, 1}},
      {{kN, 16, 3, 8}, {0, 2, 1, 3}},
      {{kN, 16, 3, 8}, {0, 2, 3, 1}},
      {{kN, 5, 4, 3, 2}, {0, 4, 3, 2, 1}},
      {{kN, 31, 2}, {0, 2, 1}},
      {{kN, 0, 3}, {0, 2, 1}},
      {{kN, 1, 33}, {0, 2, 1}},
      {{kN, 1025}, {0, 1}},
      {{40, 9}, {1, 0}},
      {{2, 3, 4, 2, 3}, {4, 1, 3, 0, 2}},
      {{kN, 2, 3, 2, 3, 4}, {0, 5, 1, 4, 2, 3}}};
  for (const auto& [dims, perm] : turns) {
    cases.push_back({absl::StrCat(DimsText(dims), " by ", DimsText(perm)),
                     {Input(dtype, dims)},
                     {{"perm", perm}}});
  }
  return cases;
}

Cases ConcatCases(const OpRow&, DType dtype) {
  const auto concat = [](const std::string& name, int64_t axis,
                         std::vector<Operand> operands) {
    return OpCase{name, std::move(operands), {{"axis", axis}}};
  };
  const auto in = [&](Dims dims) { return Input(dtype, std::move(dims)); };
  return {
      concat("two", 1, {in({kN, 31}), in({kN, 33})}),
      concat("in the middle", 1, {in({kN, 2, 5}), in({kN, 3, 5})}),
      concat("of four bytes' packs", -1,
             {in({kN, 3, 16}), in({kN, 3, 8}), in({kN, 3, 8})}),
      concat("one", 1, {in({kN, 7})}),
      concat("one is empty", 1, {in({kN, 0}), in({kN, 1025})}),
      concat("all are empty", 1, {in({kN, 0}), in({kN, 0})}),
      concat("fixed, first axis", 0, {in({3, 4}), in({1, 4}), in({2, 4})}),
      concat("many", 1,
             {in({kN, 1}), in({kN, 2}), in({kN, 3}), in({kN, 4}), in({kN, 5}),
              in({kN, 6}), in({kN, 7}), in({kN, 8}), in({kN, 9})}),
  };
}

Cases SplitCases(const OpRow&, DType dtype) {
  const auto split = [&](Dims dims, Ints sizes, int64_t axis) {
    OpCase one{absl::StrCat(DimsText(dims), " into ", DimsText(sizes)),
               {Input(dtype, std::move(dims)), Int64Weight(sizes)},
               {{"axis", axis}}};
    one.outputs = static_cast<int>(sizes.size());
    return one;
  };
  OpCase equal{"equal parts",
               {Input(dtype, {kN, 12})},
               {{"axis", int64_t{1}}, {"num_outputs", int64_t{3}}}};
  equal.outputs = 3;
  return {split({kN, 33}, {1, 31, 1}, 1),   split({kN, 4, 9}, {4, 5}, 2),
          split({kN, 5, 7}, {2, 0, 3}, 1),  split({6, 3}, {2, 4}, 0),
          split({kN, 1025}, {1, 1024}, -1), std::move(equal)};
}

Cases SliceCases(const OpRow&, DType dtype) {
  const auto slice = [&](Dims dims, const std::string& name, Ints starts,
                         Ints ends, Ints axes, Ints steps) {
    return OpCase{
        absl::StrCat(DimsText(dims), " ", name),
        {Input(dtype, std::move(dims)), Int64Weight(std::move(starts)),
         Int64Weight(std::move(ends)), Int64Weight(std::move(axes)),
         Int64Weight(std::move(steps))}};
  };
  return {
      slice({kN, 33}, "tail", {1}, {1000}, {1}, {1}),
      slice({kN, 1025}, "steps", {0}, {1025}, {1}, {3}),
      slice({kN, 31}, "backwards", {-1}, {-1000}, {1}, {-1}),
      slice({kN, 8, 16}, "two axes", {2, 4}, {7, 12}, {1, 2}, {1, 1}),
      slice({kN, 8, 16}, "two axes, steps", {7, 0}, {0, 16}, {1, 2}, {-2, 5}),
      slice({kN, 8}, "nothing", {5}, {5}, {1}, {1}),
      slice({10}, "fixed", {2}, {9}, {0}, {2}),
      slice({kN, 4, 9}, "one", {3}, {4}, {1}, {1})};
}

Cases ExpandCases(const OpRow&, DType dtype) {
  const auto expand = [&](Dims dims, Ints shape) {
    return OpCase{absl::StrCat(DimsText(dims), " to ", DimsText(shape)),
                  {Input(dtype, std::move(dims)), Int64Weight(shape)}};
  };
  return {expand({kN, 1}, {1, 33}),
          expand({kN, 1, 5}, {1, 7, 1}),
          expand({kN, 3, 1}, {1, 3, 31}),
          expand({kN, 1025}, {1, 1}),
          expand({kN, 1}, {1, 0}),
          expand({}, {2, 3}),
          expand({3}, {4, 3}),
          expand({kN, 1, 1}, {1, 64, 64})};
}

Cases TileCases(const OpRow&, DType dtype) {
  const auto tile = [&](Dims dims, Ints repeats) {
    return OpCase{absl::StrCat(DimsText(dims), " by ", DimsText(repeats)),
                  {Input(dtype, std::move(dims)), Int64Weight(repeats)}};
  };
  return {tile({kN, 33}, {1, 2}),   tile({kN, 3, 5}, {1, 2, 3}),
          tile({kN, 1025}, {1, 1}), tile({kN, 4}, {1, 0}),
          tile({3, 2}, {2, 2}),     tile({kN, 1, 16}, {1, 31, 1})};
}

Cases PadCases(const OpRow&, DType dtype) {
  const auto pad = [&](Dims dims, Ints pads, double value) {
    return OpCase{absl::StrCat(DimsText(dims), " by ", DimsText(pads)),
                  {Input(dtype, std::move(dims)), Int64Weight(pads),
                   Given(dtype, {}, {value})}};
  };
  Cases cases = {
      pad({kN, 31}, {0, 1, 0, 1}, 1), pad({kN, 4, 5}, {0, 1, 2, 0, 3, 0}, 3),
      pad({kN, 8}, {0, -2, 0, 3}, 2), pad({kN, 1025}, {0, 0, 0, 0}, 1),
      pad({3, 3}, {1, 1, 1, 1}, 1),   pad({kN, 0}, {0, 2, 0, 2}, 1)};
  cases.push_back(
      {"without a value", {Input(dtype, {kN, 7}), Int64Weight({0, 2, 0, 1})}});
  return cases;
}

// Of more elements than are known before the graph runs.
Cases FillCases(const OpRow&, DType dtype) {
  HostTensor one = HostTensor::Create(dtype, {1}).value();
  one.bytes().back() = std::byte{1};  // some element that is not zero
  const auto value = std::make_shared<const HostTensor>(std::move(one));
  Cases cases;
  for (const Dims& dims : {Dims{kN, 1200}, Dims{kN, 33, 65}, Dims{3, 1025}}) {
    Operand shape{.dtype = DType::kInt64, .dims = dims, .from = From::kShape};
    cases.push_back({DimsText(dims), {shape}, {{"value", value}}});
  }
  return cases;
}

constexpr OpRow kRows[] = {
    {"Identity", kAll, SameCases, {}, true},
    {"Dropout", kFloats, SameCases, {}, true},
    {"Reshape", kAll, ReshapeCases, {}, true},
    {"Flatten", kAll, FlattenCases, {}, true},
    {"Squeeze", kAll, SqueezeCases, {}, true},
    {"Unsqueeze", kAll, UnsqueezeCases, {}, true},
    {"Transpose", kAll, TransposeCases, {}, true},
    {"Concat", kAll, ConcatCases, {}, true},
    {"Split", kAll, SplitCases, {}, true},
    {"Slice", kAll, SliceCases, {}, true},
    {"Expand", kAll, ExpandCases, {}, true},
    {"Tile", kAll, TileCases, {}, true},
    {"Pad", kAll, PadCases, {}, true},
    {"ConstantOfShape", kAll, FillCases, {}, true},
};

}  // namespace

std::span<const OpRow> LayoutRows() { return kRows; }

}  // namespace reprise::conformance
