#include "runtime/cuda/memory.h"

#include <algorithm>
#include <utility>

#include "tests/runtime/cuda/context_fixture.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;

class MemoryTest : public ContextFixture {};

TEST_F(MemoryTest, ABufferIsThereUntilItDies) {
  {
    const auto buffer = DeviceBuffer::Allocate(*current_, 1000);
    ASSERT_THAT(buffer, IsOk());
    EXPECT_EQ(buffer->bytes(), 1000);
    EXPECT_EQ(buffer->address() % 256, 0u);
    EXPECT_NE(cuda_.Host(buffer->address(), 1000), nullptr);
    EXPECT_EQ(cuda_.live().device_allocations, 1);
  }
  EXPECT_EQ(cuda_.live().device_allocations, 0);
}

TEST_F(MemoryTest, NoBytesAreABufferWithoutAnAddress) {
  const auto device = DeviceBuffer::Allocate(*current_, 0);
  ASSERT_THAT(device, IsOk());
  EXPECT_EQ(device->address(), CUdeviceptr{0});
  const auto pinned = PinnedBuffer::Allocate(*current_, 0);
  ASSERT_THAT(pinned, IsOk());
  EXPECT_EQ(pinned->data(), nullptr);
  EXPECT_EQ(cuda_.live(), before_);
}

TEST_F(MemoryTest, FewerAreRefused) {
  EXPECT_THAT(
      DeviceBuffer::Allocate(*current_, -1),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("-1 bytes")));
}

TEST_F(MemoryTest, AMoveTakesTheMemoryAlong) {
  auto first = DeviceBuffer::Allocate(*current_, 64);
  auto second = DeviceBuffer::Allocate(*current_, 128);
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  DeviceBuffer kept = *std::move(first);
  EXPECT_EQ(first->address(), CUdeviceptr{0});
  kept = *std::move(second);
  EXPECT_EQ(kept.bytes(), 128);
  EXPECT_EQ(cuda_.live().device_allocations, 2);  // the other has the first
}

TEST_F(MemoryTest, PageLockedBytesAreZero) {
  const auto pinned = PinnedBuffer::Allocate(*current_, 4096);
  ASSERT_THAT(pinned, IsOk());
  EXPECT_EQ(pinned->bytes(), 4096u);
  EXPECT_TRUE(std::all_of(pinned->data(), pinned->data() + 4096,
                          [](std::byte b) { return b == std::byte{0}; }));
  EXPECT_EQ(cuda_.live().pinned_allocations, 1);
}

TEST_F(MemoryTest, WithoutRoomTheErrorSaysHowMuchWasWanted) {
  cuda_.SetFree(0, 1 << 20);
  EXPECT_THAT(DeviceBuffer::Allocate(*current_, 2 << 20),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("device memory of 2097152 bytes")));
  cuda_.FailAt("MemHostAlloc", 1, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(PinnedBuffer::Allocate(*current_, 512),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("page-locked memory of 512 bytes")));
}

TEST_F(MemoryTest, TellsWhatIsFree) {
  const auto before = DeviceMemoryInfo(*current_);
  ASSERT_THAT(before, IsOk());
  EXPECT_EQ(before->total, int64_t{1} << 30);
  const auto buffer = DeviceBuffer::Allocate(*current_, 4 << 20);
  ASSERT_THAT(buffer, IsOk());
  const auto after = DeviceMemoryInfo(*current_);
  ASSERT_THAT(after, IsOk());
  EXPECT_EQ(before->free - after->free, 4 << 20);
  cuda_.FailAt("MemGetInfo", 1, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_THAT(DeviceMemoryInfo(*current_),
              StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace reprise::cuda
