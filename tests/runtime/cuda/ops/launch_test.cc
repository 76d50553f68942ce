#include "runtime/cuda/ops/launch.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise::cuda {
namespace {

TEST(LaunchTest, BlocksCoverTheThreads) {
  EXPECT_EQ(FlatLaunch("k", 1, {}).grid, (Dim3{1, 1, 1}));
  EXPECT_EQ(FlatLaunch("k", 256, {}).grid, (Dim3{1, 1, 1}));
  EXPECT_EQ(FlatLaunch("k", 257, {}).grid, (Dim3{2, 1, 1}));
  EXPECT_EQ(FlatLaunch("k", 257, {}).block, (Dim3{256, 1, 1}));
  EXPECT_EQ(FlatLaunch("k", 0, {}).grid, (Dim3{0, 1, 1}));
}

TEST(LaunchTest, EveryTypeHasAName) {
  for (int i = 0; i < kDTypeCount; ++i) {
    EXPECT_FALSE(TypeSuffix(static_cast<DType>(i)).empty()) << i;
  }
  EXPECT_EQ(TypeSuffix(DType::kBf16), "bf16");
  EXPECT_EQ(BytesSuffix(16), "b16");
}

TEST(LaunchTest, ACastTakesFourElementsAThread) {
  const KernelLaunch cast =
      CastLaunch({0}, DType::kFp32, {1}, DType::kFp16, 1025);
  EXPECT_EQ(cast.entry, "reprise_cast_f32_f16");
  EXPECT_EQ(cast.grid, (Dim3{2, 1, 1}));
  EXPECT_EQ(cast.arguments.size(), 3);
}

}  // namespace
}  // namespace reprise::cuda
