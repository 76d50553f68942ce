#include "runtime/cuda/stream.h"

#include "tests/runtime/cuda/context_fixture.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;

using StreamTest = ContextFixture;

TEST_F(StreamTest, WaitsForNoOtherAndDiesWithItsHandle) {
  {
    const auto stream = MakeStream(*current_);
    ASSERT_THAT(stream, IsOk());
    unsigned flags = 0;
    ASSERT_EQ(cuda_.driver().StreamGetFlags(stream->get(), &flags),
              CUDA_SUCCESS);
    EXPECT_EQ(flags, unsigned{CU_STREAM_NON_BLOCKING});
    EXPECT_EQ(cuda_.live().streams, 1);
  }
  EXPECT_EQ(cuda_.live().streams, 0);
  cuda_.FailAt("StreamCreateWithPriority", 1, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(MakeStream(*current_),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

}  // namespace
}  // namespace reprise::cuda
