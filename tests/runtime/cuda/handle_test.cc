#include "runtime/cuda/handle.h"

#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<unsigned long long>& Destroyed() {
  static std::vector<unsigned long long> destroyed;
  return destroyed;
}

CUresult DestroyMemory(CUdeviceptr address) {
  Destroyed().push_back(address);
  return address == 13 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult DestroyRange(CUdeviceptr address, size_t bytes) {
  Destroyed().push_back(address);
  Destroyed().push_back(bytes);
  return CUDA_SUCCESS;
}

class HandleTest : public ::testing::Test {
 protected:
  void SetUp() override { Destroyed().clear(); }
};

TEST_F(HandleTest, DestroysExactlyOnce) {
  { const UniqueDeviceMemory memory(7, DestroyMemory); }
  EXPECT_THAT(Destroyed(), ElementsAre(7));
}

TEST_F(HandleTest, AnEmptyHandleDestroysNothing) {
  {
    const UniqueDeviceMemory none;
    EXPECT_FALSE(none);
    EXPECT_EQ(none.get(), 0u);
    const UniqueDeviceMemory null(0, DestroyMemory);
  }
  EXPECT_THAT(Destroyed(), IsEmpty());
}

TEST_F(HandleTest, AMovedHandleIsDestroyedByItsNewOwner) {
  {
    UniqueDeviceMemory a(1, DestroyMemory);
    UniqueDeviceMemory b(std::move(a));
    EXPECT_FALSE(a);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(b.get(), 1u);
    UniqueDeviceMemory c(2, DestroyMemory);
    c = std::move(b);
    EXPECT_EQ(c.get(), 1u);
    EXPECT_THAT(Destroyed(), IsEmpty());
  }
  EXPECT_THAT(Destroyed(), ElementsAre(1, 2));
}

TEST_F(HandleTest, ResetDestroysNow) {
  UniqueDeviceMemory memory(3, DestroyMemory);
  memory.reset();
  EXPECT_FALSE(memory);
  memory.reset();
  EXPECT_THAT(Destroyed(), ElementsAre(3));
}

TEST_F(HandleTest, AFailedDestroyIsNotTriedAgain) {
  { UniqueDeviceMemory memory(13, DestroyMemory); }
  EXPECT_THAT(Destroyed(), ElementsAre(13));
}

TEST_F(HandleTest, ARangeIsFreedWithItsSize) {
  {
    UniqueRange range(0x1000, 64, DestroyRange);
    UniqueRange moved(std::move(range));
    EXPECT_FALSE(range);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(moved.address(), 0x1000u);
    EXPECT_EQ(moved.bytes(), 64u);
    UniqueRange other;
    other = std::move(moved);
    EXPECT_TRUE(other);
  }
  EXPECT_THAT(Destroyed(), ElementsAre(0x1000, 64));
}

}  // namespace
}  // namespace reprise::cuda
