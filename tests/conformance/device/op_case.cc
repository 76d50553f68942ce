#include "tests/conformance/device/op_case.h"

#include <iterator>

#include "absl/strings/str_cat.h"

namespace reprise::conformance {

Operand Input(DType dtype, Dims dims, Values values) {
  return {.dtype = dtype, .dims = std::move(dims), .values = values};
}

Operand Weight(DType dtype, Dims dims, Values values) {
  return {.dtype = dtype,
          .dims = std::move(dims),
          .values = values,
          .from = From::kWeight};
}

Operand Given(DType dtype, Dims dims, std::vector<double> elements) {
  return {.dtype = dtype,
          .dims = std::move(dims),
          .from = From::kWeight,
          .given = std::move(elements)};
}

Operand Int64Weight(std::vector<int64_t> values) {
  return Given(DType::kInt64, {static_cast<int64_t>(values.size())},
               {values.begin(), values.end()});
}

Operand Absent() { return {.from = From::kNowhere}; }

std::vector<OpGroup> AllOpGroups() {
  std::vector<OpGroup> groups;
  const auto find = [&](const OpRow& row, DType dtype) -> OpGroup& {
    for (OpGroup& group : groups) {
      if (group.row->op == row.op && group.dtype == dtype) return group;
    }
    return groups.emplace_back(OpGroup{&row, dtype, {}});
  };
  for (const std::span<const OpRow> rows :
       {ElementwiseRows(), LogicRows(), LayoutRows(), ReductionRows(),
        ProductRows()}) {
    for (const OpRow& row : rows) {
      for (int i = 0; i < kDTypeCount; ++i) {
        const auto dtype = static_cast<DType>(i);
        if (!Has(row.types, dtype)) continue;
        std::vector<OpCase> cases = row.cases(row, dtype);
        for (OpCase& one : cases) {
          if (one.version == 0) one.version = row.version;
        }
        OpGroup& group = find(row, dtype);
        group.cases.insert(group.cases.end(),
                           std::make_move_iterator(cases.begin()),
                           std::make_move_iterator(cases.end()));
      }
    }
  }
  return groups;
}

std::string GroupName(const OpGroup& group) {
  return absl::StrCat(group.row->op, "_", DTypeName(group.dtype));
}

void PrintTo(const OpGroup& group, std::ostream* os) {
  *os << GroupName(group);
}

}  // namespace reprise::conformance
