#include "runtime/cpu/cpu_slot.h"

#include <cstdint>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/thread.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
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

TEST(CpuSlotTest, LaysTensorsOutAlignedAndApart) {
  auto layout = MakeSlotLayout(TwoInputs(), 4);
  ASSERT_THAT(layout, IsOk());
  EXPECT_EQ(layout->inputs[0].row_bytes, 12);
  EXPECT_EQ(layout->inputs[0].bytes, 48);
  EXPECT_EQ(layout->inputs[1].offset, 64);
  EXPECT_EQ(layout->outputs[0].offset, 128);
  EXPECT_EQ(layout->bytes, 128 + 128);
}

TEST(CpuSlotTest, RefusesSizesThatOverflow) {
  Signature signature = TwoInputs();
  signature.inputs[0].dims = {int64_t{1} << 62};
  EXPECT_THAT(MakeSlotLayout(signature, 4),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(CpuSlotTest, ThePoolIsBoundedAndTakesBackFromAnyThread) {
  const SlotLayout layout = MakeSlotLayout(TwoInputs(), 4).value();
  SlotPool pool;
  ASSERT_THAT(pool.Add(2), IsOk());
  const SlotHold hold = pool.Require(layout).value();
  SlotLease first(pool.Acquire(layout));
  SlotLease second(pool.Acquire(layout));
  EXPECT_EQ(pool.Acquire(layout), nullptr);
  EXPECT_NE(first->input(0).data(), second->input(0).data());
  EXPECT_EQ(first->input(0).size(), 48);
  EXPECT_EQ(first->output(0).size(), 80);
  Thread("other", [&] { first.Reset(); }).Join();
  EXPECT_NE(pool.Acquire(layout), nullptr);
}

TEST(CpuSlotTest, GrowthIsWhatTheSlotsLack) {
  const SlotLayout small = MakeSlotLayout(TwoInputs(), 1).value();
  const SlotLayout large = MakeSlotLayout(TwoInputs(), 1000).value();
  const auto bytes = [](const SlotLayout& layout) {
    return static_cast<int64_t>(layout.bytes);
  };
  SlotPool pool;
  EXPECT_EQ(pool.BytesToGrow(large), 0);  // there is none to grow
  ASSERT_THAT(pool.Add(2), IsOk());
  EXPECT_EQ(pool.BytesToGrow(small), 2 * bytes(small));
  const SlotHold first_hold = pool.Require(small).value();
  EXPECT_EQ(pool.BytesToGrow(small), 0);
  EXPECT_EQ(pool.BytesToGrow(large), 2 * (bytes(large) - bytes(small)));
  // One in use keeps what it has until it comes back.
  SlotLease lease(pool.Acquire(small));
  EXPECT_EQ(pool.BytesToGrow(large), 2 * bytes(large) - bytes(small));
  const SlotHold second_hold = pool.Require(large).value();
  EXPECT_EQ(pool.BytesToGrow(large), 0);
  EXPECT_EQ(pool.BytesToGrow(small), 0);
  EXPECT_EQ(pool.bytes(), 2 * bytes(large) + bytes(small));
  lease.Reset();
  EXPECT_EQ(pool.bytes(), 2 * bytes(large));
}

TEST(CpuSlotTest, NewSlotsAreAsLargeAsTheOthers) {
  const SlotLayout layout = MakeSlotLayout(TwoInputs(), 1000).value();
  SlotPool pool;
  const SlotHold hold = pool.Require(layout).value();
  ASSERT_THAT(pool.Add(3), IsOk());
  EXPECT_EQ(pool.size(), 3);
  EXPECT_EQ(pool.BytesToGrow(layout), 0);
  SlotLease lease(pool.Acquire(layout));
  EXPECT_EQ(lease->output(0).size(), 20000);
}

TEST(CpuSlotTest, WhatNobodyNeedsIsGivenBack) {
  const SlotLayout small = MakeSlotLayout(TwoInputs(), 1).value();
  const SlotLayout large = MakeSlotLayout(TwoInputs(), 1000).value();
  SlotPool pool;
  ASSERT_THAT(pool.Add(2), IsOk());
  const SlotHold hold = pool.Require(small).value();
  const int64_t bytes = pool.bytes();
  SlotHold model = pool.Require(large).value();
  SlotLease lease(pool.Acquire(large));
  std::byte* const last = &lease->input(0)[11999];
  model = SlotHold();
  *last = std::byte{1};  // a slot in use keeps its memory
  EXPECT_EQ(lease->output(0).size(), 20000);
  EXPECT_GT(pool.bytes(), static_cast<int64_t>(large.bytes));
  lease.Reset();
  EXPECT_EQ(pool.bytes(), bytes);
  lease = SlotLease(pool.Acquire(small));
  EXPECT_EQ(lease->output(0).size(), 20);
}

TEST(CpuSlotTest, WhatIsNotToBeHadIsRefusedAndChangesNothing) {
  const SlotLayout layout = MakeSlotLayout(TwoInputs(), 4).value();
  SlotPool pool;
  ASSERT_THAT(pool.Add(2), IsOk());
  const SlotHold hold = pool.Require(layout).value();
  const int64_t bytes = pool.bytes();
  SlotLayout huge = layout;
  huge.bytes = size_t{1} << 62;
  EXPECT_THAT(pool.Require(huge),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(pool.bytes(), bytes);
}

TEST(CpuSlotTest, ASlotInUseIsGrownWhenItIsLentAgain) {
  const SlotLayout small = MakeSlotLayout(TwoInputs(), 1).value();
  const SlotLayout large = MakeSlotLayout(TwoInputs(), 1000).value();
  SlotPool pool;
  ASSERT_THAT(pool.Add(1), IsOk());
  const SlotHold first_hold = pool.Require(small).value();
  SlotLease lease(pool.Acquire(small));
  const SlotHold second_hold = pool.Require(large).value();
  lease->input(0)[11] = std::byte{1};  // still its own
  EXPECT_EQ(lease->input(0).size(), 12);
  const SlotLayout larger = MakeSlotLayout(TwoInputs(), 2000).value();
  const SlotHold third_hold =
      pool.Require(larger).value();  // before it ever had the room of `large`
  lease.Reset();
  lease = SlotLease(pool.Acquire(large));
  EXPECT_EQ(lease->output(0).size(), 20000);
  lease->input(0)[11999] = std::byte{1};
}

}  // namespace
}  // namespace reprise::cpu
