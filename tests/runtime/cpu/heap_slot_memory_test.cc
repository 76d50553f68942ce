#include "runtime/cpu/heap_slot_memory.h"

#include <cstdint>
#include <cstring>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;

TEST(HeapSlotMemoryTest, HasWhatWasAskedForAlignedToSixtyFour) {
  for (const size_t bytes : {0, 1, 100, 1 << 20}) {
    auto memory = AllocateOnHeap(bytes);
    ASSERT_THAT(memory, IsOk());
    EXPECT_EQ((*memory)->bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>((*memory)->data()) % 64, 0);
  }
}

TEST(HeapSlotMemoryTest, RefusesWhatTheSystemDoesNotHave) {
  EXPECT_THAT(AllocateOnHeap(size_t{1} << 62),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST(HeapSlotMemoryTest, TrimmingKeepsWhatStaysAndGivesBackThePagesBehind) {
  constexpr size_t kBytes = 1 << 20;
  constexpr size_t kKept = 10'000;
  auto memory = AllocateOnHeap(kBytes);
  ASSERT_THAT(memory, IsOk());
  std::byte* const data = (*memory)->data();
  std::memset(data, 7, kBytes);
  (*memory)->Trim(kKept);
  EXPECT_EQ((*memory)->bytes(), kKept);
  EXPECT_EQ((*memory)->data(), data);
  for (size_t i = 0; i < kKept; ++i) ASSERT_EQ(data[i], std::byte{7}) << i;
  // Pages that were given back would read as zero.
  EXPECT_EQ(data[kBytes / 2], std::byte{0});
}

TEST(HeapSlotMemoryTest, TrimmingNeverGrows) {
  auto memory = AllocateOnHeap(100);
  ASSERT_THAT(memory, IsOk());
  (*memory)->Trim(200);
  EXPECT_EQ((*memory)->bytes(), 100);
  (*memory)->Trim(0);
  EXPECT_EQ((*memory)->bytes(), 0);
}

}  // namespace
}  // namespace reprise::cpu
