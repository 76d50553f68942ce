#include "runtime/prepare/slot_layout.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;

Signature TwoInputs() {
  Signature signature;
  signature.batched = true;
  signature.inputs = {
      {.name = "a", .dims = {3}, .symbols = {""}},
      {.name = "b", .dtype = DType::kInt64, .dims = {}, .symbols = {}}};
  signature.outputs = {{.name = "y", .dims = {5}, .symbols = {""}}};
  return signature;
}

TEST(SlotLayoutTest, LaysTensorsOutAlignedAndApart) {
  auto layout = MakeSlotLayout(TwoInputs(), 4);
  ASSERT_THAT(layout, IsOk());
  EXPECT_EQ(layout->inputs[0].row_bytes, 12);
  EXPECT_EQ(layout->inputs[0].bytes, 48);
  EXPECT_EQ(layout->inputs[1].offset, 64);
  EXPECT_EQ(layout->outputs[0].offset, 128);
  EXPECT_EQ(layout->bytes, 128 + 128);
}

TEST(SlotLayoutTest, RefusesSizesThatOverflow) {
  Signature signature = TwoInputs();
  signature.inputs[0].dims = {int64_t{1} << 62};
  EXPECT_THAT(MakeSlotLayout(signature, 4),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(SlotLayoutTest, RowsAreThoseOfTheTensorsInTheirOrder) {
  const SlotLayout layout = MakeSlotLayout(TwoInputs(), 4).value();
  std::array<std::byte, 256> memory;
  std::byte* const addresses[] = {&memory[0], &memory[64]};
  const std::vector<TensorRows> rows = RowsOf(layout.inputs, addresses);
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(rows[0].data, &memory[0]);
  EXPECT_EQ(rows[0].row_bytes, 12);
  EXPECT_EQ(rows[1].data, &memory[64]);
  EXPECT_EQ(rows[1].row_bytes, 8);
}

}  // namespace
}  // namespace reprise
