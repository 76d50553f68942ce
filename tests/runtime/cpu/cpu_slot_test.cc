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
  pool.Add(2);
  pool.Require(layout);
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
  pool.Add(2);
  EXPECT_EQ(pool.BytesToGrow(small), 2 * bytes(small));
  pool.Require(small);
  EXPECT_EQ(pool.BytesToGrow(small), 0);
  EXPECT_EQ(pool.BytesToGrow(large), 2 * (bytes(large) - bytes(small)));
  // One in use keeps what it has until it comes back.
  SlotLease lease(pool.Acquire(small));
  EXPECT_EQ(pool.BytesToGrow(large), 2 * bytes(large) - bytes(small));
  pool.Require(large);
  EXPECT_EQ(pool.BytesToGrow(large), 0);
  EXPECT_EQ(pool.BytesToGrow(small), 0);
  EXPECT_EQ(pool.bytes(), 2 * bytes(large) + bytes(small));
  lease.Reset();
  EXPECT_EQ(pool.bytes(), 2 * bytes(large));
}

TEST(CpuSlotTest, NewSlotsAreAsLargeAsTheOthers) {
  const SlotLayout layout = MakeSlotLayout(TwoInputs(), 1000).value();
  SlotPool pool;
  pool.Require(layout);
  pool.Add(3);
  EXPECT_EQ(pool.size(), 3);
  EXPECT_EQ(pool.BytesToGrow(layout), 0);
  SlotLease lease(pool.Acquire(layout));
  EXPECT_EQ(lease->output(0).size(), 20000);
}

TEST(CpuSlotTest, ASlotInUseIsGrownWhenItIsLentAgain) {
  const SlotLayout small = MakeSlotLayout(TwoInputs(), 1).value();
  const SlotLayout large = MakeSlotLayout(TwoInputs(), 1000).value();
  SlotPool pool;
  pool.Add(1);
  pool.Require(small);
  SlotLease lease(pool.Acquire(small));
  pool.Require(large);
  lease->input(0)[11] = std::byte{1};  // still its own
  EXPECT_EQ(lease->input(0).size(), 12);
  const SlotLayout larger = MakeSlotLayout(TwoInputs(), 2000).value();
  pool.Require(larger);  // before it ever had the room of `large`
  lease.Reset();
  lease = SlotLease(pool.Acquire(large));
  EXPECT_EQ(lease->output(0).size(), 20000);
  lease->input(0)[11999] = std::byte{1};
}

}  // namespace
}  // namespace reprise::cpu
