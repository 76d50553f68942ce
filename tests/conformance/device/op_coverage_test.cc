// Does the operator suite try all that the CUDA device takes? Its lowering is
// asked; no GPU is needed.
#include <algorithm>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/cuda_lowering.h"
#include "runtime/ops/bound_graph.h"
#include "tests/conformance/device/op_case.h"
#include "tests/conformance/device/op_model.h"
#include "tests/testing/status_matchers.h"

namespace reprise::conformance {
namespace {

using ::reprise::testing::IsOk;

constexpr int kRows = 3;
bool IsNarrow(cuda::Precision precision) {
  return precision == cuda::Precision::kFp16 ||
         precision == cuda::Precision::kBf16;
}

absl::Status LowerAs(const OpModel& model, cuda::Precision precision) {
  if (model.cases.empty()) return absl::OkStatus();
  REPRISE_ASSIGN_OR_RETURN(
      const ops::BoundGraph bound,
      ops::Bind(*model.graph, model.signature, model.batched ? kRows : 1, {}));
  cuda::CudaWeights weights;
  return cuda::Lower(bound, weights, {.precision = precision}).status();
}

absl::Status LowerAs(const OpGroup& group, cuda::Precision precision) {
  REPRISE_ASSIGN_OR_RETURN(
      const OpModels models,
      MakeOpModels(group, kRows, {.narrow = IsNarrow(precision)}));
  REPRISE_RETURN_IF_ERROR(LowerAs(models.batched, precision));
  return LowerAs(models.fixed, precision);
}

bool IsTried(const std::vector<OpGroup>& groups, absl::string_view op,
             DType dtype) {
  return std::ranges::any_of(groups, [&](const OpGroup& group) {
    return group.row->op == op && group.dtype == dtype;
  });
}

TEST(OpCoverageTest, EveryOperatorOfTheLoweringIsTried) {
  std::set<std::string> tried;
  for (const OpGroup& group : AllOpGroups()) {
    EXPECT_FALSE(group.cases.empty()) << GroupName(group);
    tried.insert(std::string(group.row->op));
  }
  std::set<std::string> lowered;
  for (const absl::string_view op : cuda::LoweredOperators()) {
    lowered.insert(std::string(op));
  }
  EXPECT_EQ(tried, lowered);
}

TEST(OpCoverageTest, EveryCaseIsLowered) {
  for (const OpGroup& group : AllOpGroups()) {
    EXPECT_THAT(LowerAs(group, cuda::Precision::kFp32), IsOk())
        << GroupName(group);
    if (group.dtype != DType::kFp32) continue;
    for (const cuda::Precision precision :
         {cuda::Precision::kTf32, cuda::Precision::kFp16,
          cuda::Precision::kBf16}) {
      EXPECT_THAT(LowerAs(group, precision), IsOk()) << GroupName(group);
    }
  }
}

// What no case tries is refused: not one of an operator's cases is lowered in
// a type that its row does not have.
TEST(OpCoverageTest, EveryTypeThatTheLoweringTakesIsTried) {
  const std::vector<OpGroup> groups = AllOpGroups();
  for (const OpGroup& group : groups) {
    if (group.row->cases == nullptr) continue;
    for (int i = 0; i < kDTypeCount; ++i) {
      const auto dtype = static_cast<DType>(i);
      if (dtype == DType::kString || IsTried(groups, group.row->op, dtype)) {
        continue;
      }
      for (OpCase& one : group.row->cases(*group.row, dtype)) {
        if (one.version == 0) one.version = group.row->version;
        const OpGroup alone{group.row, dtype, {one}};
        EXPECT_FALSE(LowerAs(alone, cuda::Precision::kFp32).ok())
            << GroupName(alone) << " is lowered and not tried: '" << one.name
            << "'";
      }
    }
  }
}

TEST(OpCoverageTest, ListsWhatIsTried) {
  std::vector<std::string> lines;
  size_t cases = 0;
  for (const OpGroup& group : AllOpGroups()) {
    const std::string op = absl::StrCat(group.row->op, ":");
    const auto line = std::ranges::find_if(
        lines, [&](const std::string& any) { return any.rfind(op, 0) == 0; });
    std::string& text = line != lines.end() ? *line : lines.emplace_back(op);
    absl::StrAppend(&text, " ", DTypeName(group.dtype));
    cases += group.cases.size();
  }
  std::ranges::sort(lines);
  for (const std::string& line : lines) std::cout << line << "\n";
  std::cout << lines.size() << " operators, " << cases << " cases\n";
  EXPECT_EQ(lines.size(), cuda::LoweredOperators().size());
}

}  // namespace
}  // namespace reprise::conformance
