#include "runtime/prepare/host_slot.h"

#include <cstddef>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/prepare/test_memory.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;

SlotLayout Layout(int rows) {
  Signature signature;
  signature.batched = true;
  signature.inputs = {{.name = "x", .dims = {3}, .symbols = {""}}};
  signature.outputs = {{.name = "y", .dims = {5}, .symbols = {""}}};
  return MakeSlotLayout(signature, rows).value();
}

TEST(HostSlotTest, OneWithoutAPoolHasWhatItWasGrownTo) {
  const SlotLayout layout = Layout(4);
  HostSlot slot;
  EXPECT_EQ(slot.index(), -1);
  ASSERT_THAT(slot.Grow(layout, AllocateForTest), IsOk());
  slot.Use(layout);
  EXPECT_EQ(slot.input(0).size(), 48);
  EXPECT_EQ(slot.output(0).size(), 80);
  EXPECT_EQ(slot.output(0).data() - slot.input(0).data(), 64);
  slot.Release();  // to nobody
  slot.input(0)[47] = std::byte{1};
}

TEST(HostSlotTest, IsSeenThroughTheLayoutThatItIsUsedWith) {
  const SlotLayout large = Layout(100);
  const SlotLayout small = Layout(1);
  HostSlot slot;
  ASSERT_THAT(slot.Grow(large, AllocateForTest), IsOk());
  ASSERT_THAT(slot.Grow(small, AllocateForTest), IsOk());  // it has that
  slot.Use(small);
  EXPECT_EQ(slot.output(0).size(), 20);
  slot.Use(large);
  EXPECT_EQ(slot.output(0).size(), 2000);
  const std::vector<TensorRows> rows = slot.output_rows();
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows[0].data, slot.buffers().outputs[0]);
  EXPECT_EQ(rows[0].row_bytes, 20);
  EXPECT_EQ(slot.input_rows()[0].data, slot.input(0).data());
}

TEST(HostSlotTest, WhatTheAllocatorRefusesIsRefused) {
  HostSlot slot;
  EXPECT_THAT(slot.Grow(Layout(1),
                        [](size_t) {
                          return absl::ResourceExhaustedError("no memory");
                        }),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

}  // namespace
}  // namespace reprise
