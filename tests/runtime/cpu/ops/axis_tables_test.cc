#include "runtime/cpu/ops/axis_tables.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename T>
std::vector<T> Shown(DType dtype, const Dims& in, const AxisSources& sources,
                     double fill, const std::vector<T>& x) {
  const auto kernel = TableKernel(dtype, in, sources, {.value = fill});
  EXPECT_THAT(kernel, IsOk());
  if (!kernel.ok()) return {};
  size_t elements = 1;
  for (const auto& axis : sources) elements *= axis.size();
  std::vector<T> y(elements);
  const auto* input = reinterpret_cast<const std::byte*>(x.data());
  auto* output = reinterpret_cast<std::byte*>(y.data());
  kernel->run({std::span(&input, 1), std::span(&output, 1)});
  return y;
}

TEST(AxisTablesTest, EachAxisHasItsTable) {
  EXPECT_THAT(Shown<float>(DType::kFp32, {2, 2}, {{1, kFillIndex}, {0, 1, 0}},
                           9, {1, 2, 3, 4}),
              ElementsAre(3, 4, 3, 9, 9, 9));
  EXPECT_THAT(Shown<float>(DType::kFp32, {2, 2}, {{0}, {kFillIndex, 1}}, 9,
                           {1, 2, 3, 4}),
              ElementsAre(9, 2));
}

TEST(AxisTablesTest, TrailingAxesThatStayAreOneBlock) {
  EXPECT_THAT(
      Shown<int8_t>(DType::kInt8, {2, 3}, {{1, kFillIndex, 0}, {0, 1, 2}}, -1,
                    {1, 2, 3, 4, 5, 6}),
      ElementsAre(4, 5, 6, -1, -1, -1, 1, 2, 3));
  EXPECT_THAT(Shown<int8_t>(DType::kInt8, {2}, {{0, 1}}, 0, {7, 8}),
              ElementsAre(7, 8));
  EXPECT_THAT(Shown<int8_t>(DType::kInt8, {}, {}, 0, {7}), ElementsAre(7));
}

TEST(AxisTablesTest, AnEmptyAxisMakesNothing) {
  EXPECT_THAT(Shown<float>(DType::kFp32, {2, 2}, {{0, 1}, {}}, 0, {1, 2, 3, 4}),
              ElementsAre());
}

TEST(AxisTablesTest, RefusesWhatItCannotHold) {
  TableBudget tables(100);
  const ops::NodeView view;
  const KernelRequest bounded{view, {}, &tables};
  EXPECT_THAT(TakeTable(bounded, 12), IsOk());
  EXPECT_THAT(TakeTable(bounded, 1),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("and 4 bytes are free")));
  const KernelRequest unbounded{view, {}};
  EXPECT_THAT(TakeTable(unbounded, 1 << 20), IsOk());
  EXPECT_THAT(TakeTable(unbounded, int64_t{1} << 40),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(TableKernel(DType::kString, {1}, {{0}}, {}),
              StatusIs(absl::StatusCode::kUnimplemented));
}

}  // namespace
}  // namespace reprise::cpu
