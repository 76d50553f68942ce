#include "runtime/cpu/arena.h"

#include <cstdint>
#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;

TEST(ArenaTest, GrowsInPlaceAndKeepsWhatIsThere) {
  auto arena = Arena::Create(int64_t{64} << 20);
  ASSERT_THAT(arena, IsOk());
  ASSERT_THAT((*arena)->Reserve(100), IsOk());
  std::byte* const data = (*arena)->data();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0);
  data[99] = std::byte{7};
  ASSERT_THAT((*arena)->Reserve(int64_t{10} << 20), IsOk());
  EXPECT_EQ((*arena)->data(), data);
  EXPECT_EQ(data[99], std::byte{7});
  data[(10 << 20) - 1] = std::byte{1};
  EXPECT_GE((*arena)->size(), int64_t{10} << 20);
}

TEST(ArenaTest, NeverShrinksAndRefusesBeyondItsReserve) {
  auto arena = Arena::Create(int64_t{4} << 20);
  ASSERT_THAT(arena, IsOk());
  ASSERT_THAT((*arena)->Reserve(int64_t{3} << 20), IsOk());
  const int64_t size = (*arena)->size();
  ASSERT_THAT((*arena)->Reserve(1), IsOk());
  EXPECT_EQ((*arena)->size(), size);
  EXPECT_THAT((*arena)->Reserve(int64_t{5} << 20),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

}  // namespace
}  // namespace reprise::cpu
