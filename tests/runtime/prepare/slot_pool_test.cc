#include "runtime/prepare/slot_pool.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/thread.h"
#include "tests/runtime/prepare/test_memory.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::ElementsAre;

Signature TwoInputs() {
  Signature signature;
  signature.batched = true;
  signature.inputs = {
      {.name = "a", .dims = {3}, .symbols = {""}},
      {.name = "b", .dtype = DType::kInt64, .dims = {}, .symbols = {}}};
  signature.outputs = {{.name = "y", .dims = {5}, .symbols = {""}}};
  return signature;
}

TEST(SlotPoolTest, ThePoolIsBoundedAndTakesBackFromAnyThread) {
  const SlotLayout layout = MakeSlotLayout(TwoInputs(), 4).value();
  SlotPool pool(AllocateForTest);
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

TEST(SlotPoolTest, GrowthIsWhatTheSlotsLack) {
  const SlotLayout small = MakeSlotLayout(TwoInputs(), 1).value();
  const SlotLayout large = MakeSlotLayout(TwoInputs(), 1000).value();
  const auto bytes = [](const SlotLayout& layout) {
    return static_cast<int64_t>(layout.bytes);
  };
  SlotPool pool(AllocateForTest);
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

TEST(SlotPoolTest, NewSlotsAreAsLargeAsTheOthers) {
  const SlotLayout layout = MakeSlotLayout(TwoInputs(), 1000).value();
  SlotPool pool(AllocateForTest);
  const SlotHold hold = pool.Require(layout).value();
  ASSERT_THAT(pool.Add(3), IsOk());
  EXPECT_EQ(pool.size(), 3);
  EXPECT_EQ(pool.BytesToGrow(layout), 0);
  SlotLease lease(pool.Acquire(layout));
  EXPECT_EQ(lease->output(0).size(), 20000);
}

TEST(SlotPoolTest, WhatNobodyNeedsIsGivenBack) {
  const SlotLayout small = MakeSlotLayout(TwoInputs(), 1).value();
  const SlotLayout large = MakeSlotLayout(TwoInputs(), 1000).value();
  SlotPool pool(AllocateForTest);
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

TEST(SlotPoolTest, WhatIsNotToBeHadIsRefusedAndChangesNothing) {
  const SlotLayout layout = MakeSlotLayout(TwoInputs(), 4).value();
  SlotPool pool(AllocateForTest);
  ASSERT_THAT(pool.Add(2), IsOk());
  const SlotHold hold = pool.Require(layout).value();
  const int64_t bytes = pool.bytes();
  SlotLayout huge = layout;
  huge.bytes = size_t{1} << 62;
  EXPECT_THAT(pool.Require(huge),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(pool.bytes(), bytes);
}

TEST(SlotPoolTest, ASlotInUseIsGrownWhenItIsLentAgain) {
  const SlotLayout small = MakeSlotLayout(TwoInputs(), 1).value();
  const SlotLayout large = MakeSlotLayout(TwoInputs(), 1000).value();
  SlotPool pool(AllocateForTest);
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

TEST(SlotPoolTest, MemoryThatCannotBeTrimmedIsUsedAgain) {
  const SlotLayout small = MakeSlotLayout(TwoInputs(), 1).value();
  const SlotLayout large = MakeSlotLayout(TwoInputs(), 1000).value();
  int blocks = 0;
  SlotPool pool([&](size_t bytes) {
    ++blocks;
    return AllocateRigid(bytes);
  });
  ASSERT_THAT(pool.Add(2), IsOk());
  SlotHold hold = pool.Require(large).value();
  const int64_t bytes = pool.bytes();
  hold = pool.Require(small).value();
  EXPECT_EQ(pool.bytes(), bytes);
  const int before = blocks;
  EXPECT_EQ(pool.BytesToGrow(large), 0);
  hold = pool.Require(large).value();
  EXPECT_EQ(blocks, before);
  SlotLease lease(pool.Acquire(large));
  EXPECT_EQ(lease->output(0).size(), 20000);
}

TEST(SlotPoolTest, SlotsAreNumberedInTheOrderInWhichTheyWereAdded) {
  const SlotLayout layout = MakeSlotLayout(TwoInputs(), 1).value();
  SlotPool pool(AllocateForTest);
  ASSERT_THAT(pool.Add(2), IsOk());
  ASSERT_THAT(pool.Add(1), IsOk());
  const SlotHold hold = pool.Require(layout).value();
  std::set<int> indices;
  for (int i = 0; i < 3; ++i) indices.insert(pool.Acquire(layout)->index());
  EXPECT_THAT(indices, ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace reprise
