#include "runtime/cuda/pinned_slot_memory.h"

#include <memory>
#include <utility>

#include "runtime/base/thread.h"
#include "tests/runtime/cuda/context_fixture.h"
#include "tests/testing/fake_clock.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::FakeClock;
using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;

class PinnedSlotMemoryTest : public ContextFixture {
 protected:
  FakeClock clock_;
  LoadSteps steps_{clock_};
};

TEST_F(PinnedSlotMemoryTest, IsPageLockedInAStepOfItsOwn) {
  PinnedSlotMemory memory(*context_, steps_);
  const auto block = memory.Allocate(1000);
  ASSERT_THAT(block, IsOk());
  EXPECT_GE((*block)->bytes(), 1000u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>((*block)->data()) % 64, 0u);
  EXPECT_EQ(cuda_.live().pinned_allocations, 1);
  EXPECT_EQ(steps_.times(LoadStep::kPinMemory).count, 1);
  (*block)->Trim(10);
  EXPECT_GE((*block)->bytes(), 1000u);
}

TEST_F(PinnedSlotMemoryTest, ABlockOfNoBytesHasAnAddress) {
  PinnedSlotMemory memory(*context_, steps_);
  const auto block = memory.Allocate(0);
  ASSERT_THAT(block, IsOk());
  EXPECT_NE((*block)->data(), nullptr);
}

// Freeing stops the driver for all: whoever gives a block back does not do it.
TEST_F(PinnedSlotMemoryTest, WhatIsGivenBackIsFreedByTheNextLoader) {
  PinnedSlotMemory memory(*context_, steps_);
  auto block = memory.Allocate(1000);
  ASSERT_THAT(block, IsOk());
  Thread elsewhere("elsewhere", [&] { *block = nullptr; });
  elsewhere.Join();
  EXPECT_EQ(cuda_.calls("MemFreeHost"), 0);
  EXPECT_EQ(cuda_.live().pinned_allocations, 1);
  const auto next = memory.Allocate(10);
  ASSERT_THAT(next, IsOk());
  EXPECT_EQ(cuda_.calls("MemFreeHost"), 1);
  EXPECT_EQ(cuda_.live().pinned_allocations, 1);
}

TEST_F(PinnedSlotMemoryTest, WhatIsLeftGoesWithIt) {
  {
    PinnedSlotMemory memory(*context_, steps_);
    auto block = memory.Allocate(1000);
    ASSERT_THAT(block, IsOk());
    *block = nullptr;
  }
  EXPECT_EQ(cuda_.live().pinned_allocations, 0);
}

TEST_F(PinnedSlotMemoryTest, WithoutRoomThereIsNoBlock) {
  PinnedSlotMemory memory(*context_, steps_);
  cuda_.FailAt("MemHostAlloc", 1, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(memory.Allocate(1000),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(memory.Allocate(1000), IsOk());
}

}  // namespace
}  // namespace reprise::cuda
