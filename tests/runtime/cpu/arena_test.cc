#include "runtime/cpu/arena.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;

constexpr int64_t kMega = int64_t{1} << 20;

TEST(ArenaTest, GrowsInPlaceAndKeepsWhatIsThere) {
  auto arena = Arena::Create(64 * kMega);
  ASSERT_THAT(arena, IsOk());
  const auto small = (*arena)->Reserve(100);
  ASSERT_THAT(small, IsOk());
  std::byte* const data = (*arena)->data();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0);
  data[99] = std::byte{7};
  const auto large = (*arena)->Reserve(10 * kMega);
  ASSERT_THAT(large, IsOk());
  EXPECT_EQ((*arena)->data(), data);
  EXPECT_EQ(data[99], std::byte{7});
  data[10 * kMega - 1] = std::byte{1};
  EXPECT_GE((*arena)->size(), 10 * kMega);
}

TEST(ArenaTest, AllThatIsSetAsideMayBeHeldWhateverItsSize) {
  auto arena = Arena::Create(3 * kMega + 1);
  ASSERT_THAT(arena, IsOk());
  const auto hold = (*arena)->Reserve(3 * kMega + 1);
  ASSERT_THAT(hold, IsOk());
  (*arena)->data()[3 * kMega] = std::byte{7};
}

TEST(ArenaTest, IsAsLargeAsTheLargestHold) {
  auto arena = Arena::Create(64 * kMega);
  ASSERT_THAT(arena, IsOk());
  ArenaHold small = (*arena)->Reserve(3 * kMega).value();
  const int64_t size = (*arena)->size();
  std::byte* const data = (*arena)->data();
  data[3 * kMega - 1] = std::byte{7};
  {
    const ArenaHold large = (*arena)->Reserve(20 * kMega).value();
    data[20 * kMega - 1] = std::byte{9};
    EXPECT_GE((*arena)->size(), 20 * kMega);
    const ArenaHold same = (*arena)->Reserve(20 * kMega).value();
  }
  EXPECT_EQ((*arena)->size(), size);
  EXPECT_EQ(data[3 * kMega - 1], std::byte{7});
  // What is taken again is as new.
  const ArenaHold again = (*arena)->Reserve(20 * kMega).value();
  EXPECT_EQ(data[20 * kMega - 1], std::byte{0});
}

TEST(ArenaTest, AHoldThatMovesIsOne) {
  auto arena = Arena::Create(64 * kMega);
  ASSERT_THAT(arena, IsOk());
  {
    ArenaHold hold = (*arena)->Reserve(3 * kMega).value();
    const ArenaHold moved = std::move(hold);
    EXPECT_GT((*arena)->size(), 0);
  }
  EXPECT_EQ((*arena)->size(), 0);
}

TEST(ArenaTest, WhatIsSetAsideCanBeHad) {
  auto arena = Arena::Create(100);
  ASSERT_THAT(arena, IsOk());
  EXPECT_THAT((*arena)->Reserve(100), IsOk());
}

TEST(ArenaTest, RefusesBeyondItsReserve) {
  auto arena = Arena::Create(4 * kMega);
  ASSERT_THAT(arena, IsOk());
  EXPECT_THAT((*arena)->Reserve(5 * kMega),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ((*arena)->size(), 0);
}

}  // namespace
}  // namespace reprise::cpu
