#include "runtime/cuda/arena.h"

#include <memory>
#include <utility>

#include "tests/runtime/cuda/context_fixture.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;

constexpr int64_t kUnit = int64_t{2} << 20;  // the fake's granularity
constexpr int64_t kReserved = 16 * kUnit;

class ArenaTest : public ContextFixture {
 protected:
  void SetUp() override {
    ContextFixture::SetUp();
    auto arena = Arena::Create(*context_, kReserved);
    ASSERT_THAT(arena, IsOk());
    arena_ = *std::move(arena);
  }

  std::unique_ptr<Arena> arena_;
};

TEST_F(ArenaTest, HasAddressesBeforeItHasMemory) {
  EXPECT_NE(arena_->address(), CUdeviceptr{0});
  EXPECT_EQ(arena_->mapped(), 0);
  EXPECT_EQ(cuda_.live().reservations, 1);
  EXPECT_EQ(cuda_.live().physical, 0);
}

TEST_F(ArenaTest, GrowsInPlace) {
  const CUdeviceptr address = arena_->address();
  const auto small = arena_->Reserve(100);
  ASSERT_THAT(small, IsOk());
  EXPECT_EQ(arena_->mapped(), kUnit);
  EXPECT_EQ(arena_->BytesToGrow(kUnit), 0);
  EXPECT_EQ(arena_->BytesToGrow(3 * kUnit - 5), 2 * kUnit);
  const auto large = arena_->Reserve(3 * kUnit - 5);
  ASSERT_THAT(large, IsOk());
  EXPECT_EQ(arena_->mapped(), 3 * kUnit);
  EXPECT_EQ(arena_->address(), address);
  EXPECT_NE(cuda_.Host(address, static_cast<size_t>(3 * kUnit)), nullptr);
  const auto within = arena_->Reserve(2 * kUnit);
  ASSERT_THAT(within, IsOk());
  EXPECT_EQ(cuda_.live().mappings, 2);
}

TEST_F(ArenaTest, ShrinksToWhatTheOtherHoldsNeed) {
  auto small = arena_->Reserve(kUnit);
  auto large = arena_->Reserve(4 * kUnit);
  ASSERT_THAT(small, IsOk());
  ASSERT_THAT(large, IsOk());
  large = ArenaHold();
  EXPECT_EQ(arena_->mapped(), kUnit);
  small = ArenaHold();
  EXPECT_EQ(arena_->mapped(), 0);
  EXPECT_EQ(cuda_.live().mappings, 0);
  EXPECT_EQ(cuda_.live().physical, 0);
}

// What is mapped in one piece stays whole while any of it is needed.
TEST_F(ArenaTest, ASmallerHoldKeepsThePieceThatItIsIn) {
  auto large = arena_->Reserve(4 * kUnit);
  ASSERT_THAT(large, IsOk());
  const auto small = arena_->Reserve(kUnit);
  ASSERT_THAT(small, IsOk());
  large = ArenaHold();
  EXPECT_EQ(arena_->mapped(), 4 * kUnit);
}

TEST_F(ArenaTest, NothingIsMappedBeyondWhatWasSetAside) {
  EXPECT_THAT(arena_->Reserve(kReserved + 1),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("are set aside")));
  EXPECT_THAT(arena_->Reserve(-1),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(arena_->mapped(), 0);
}

TEST_F(ArenaTest, WithoutRoomNothingHasHappened) {
  const auto hold = arena_->Reserve(kUnit);
  ASSERT_THAT(hold, IsOk());
  const auto before = cuda_.live();
  cuda_.SetFree(0, static_cast<size_t>(kUnit));
  EXPECT_THAT(arena_->Reserve(4 * kUnit),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(cuda_.live(), before);
  EXPECT_EQ(arena_->mapped(), kUnit);
}

TEST_F(ArenaTest, WhicheverCallFailsNothingIsLeft) {
  for (const char* const call : {"MemCreate", "MemMap", "MemSetAccess"}) {
    const auto before = cuda_.live();
    cuda_.FailAt(call, 1, CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_THAT(arena_->Reserve(kUnit),
                StatusIs(absl::StatusCode::kUnavailable))
        << call;
    EXPECT_EQ(cuda_.live(), before) << call;
    EXPECT_EQ(arena_->mapped(), 0) << call;
  }
  EXPECT_THAT(arena_->Reserve(kUnit), IsOk());
}

TEST_F(ArenaTest, WithoutAddressesThereIsNone) {
  cuda_.FailAt("MemAddressReserve", 1, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(Arena::Create(*context_, kReserved),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("addresses for an arena")));
  cuda_.FailAt("MemGetAllocationGranularity", 1, CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(Arena::Create(*context_, kReserved),
              StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT(Arena::Create(*context_, 0),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ArenaTest, AHoldThatMovedHoldsOnce) {
  auto hold = arena_->Reserve(kUnit);
  ASSERT_THAT(hold, IsOk());
  {
    const ArenaHold moved = *std::move(hold);
    EXPECT_EQ(arena_->mapped(), kUnit);
  }
  EXPECT_EQ(arena_->mapped(), 0);
}

}  // namespace
}  // namespace reprise::cuda
