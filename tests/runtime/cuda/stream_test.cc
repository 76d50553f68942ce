#include "runtime/cuda/stream.h"

#include <memory>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/fake_cuda.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::FakeCuda;
using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;

TEST(StreamTest, WaitsForNoOtherAndDiesWithItsHandle) {
  FakeCuda cuda;
  const Driver& driver = cuda.driver();
  ASSERT_EQ(driver.Init(0), CUDA_SUCCESS);
  const auto context = PrimaryContext::Retain(driver, 0);
  ASSERT_THAT(context, IsOk());
  const auto current = CurrentContext::Enter(**context);
  ASSERT_THAT(current, IsOk());
  {
    const auto stream = MakeStream(*current);
    ASSERT_THAT(stream, IsOk());
    unsigned flags = 0;
    ASSERT_EQ(driver.StreamGetFlags(stream->get(), &flags), CUDA_SUCCESS);
    EXPECT_EQ(flags, unsigned{CU_STREAM_NON_BLOCKING});
    EXPECT_EQ(cuda.live().streams, 1);
  }
  EXPECT_EQ(cuda.live().streams, 0);
  cuda.FailAt("StreamCreateWithPriority", 1, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(MakeStream(*current),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(cuda.misuses(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace reprise::cuda
