#include "runtime/worker/retry_after.h"

#include "gtest/gtest.h"
#include "runtime/base/status.h"
#include "runtime/worker/device_worker.h"

namespace reprise {
namespace {

TEST(RetryAfterTest, TravelsWithTheStatus) {
  const absl::Status status = WithRetryAfter(
      absl::ResourceExhaustedError("full"), absl::Milliseconds(25));
  EXPECT_EQ(RetryAfter(status), absl::Milliseconds(25));
  EXPECT_EQ(RetryAfter(Annotate(status, "model 'm'")), absl::Milliseconds(25));
}

TEST(RetryAfterTest, IsZeroWithoutAHint) {
  EXPECT_EQ(RetryAfter(absl::ResourceExhaustedError("full")),
            absl::ZeroDuration());
  EXPECT_EQ(RetryAfter(absl::OkStatus()), absl::ZeroDuration());
}

TEST(RetryAfterTest, IsBounded) {
  const absl::Status full = absl::ResourceExhaustedError("full");
  EXPECT_EQ(RetryAfter(WithRetryAfter(full, absl::ZeroDuration())),
            absl::Milliseconds(1));
  EXPECT_EQ(RetryAfter(WithRetryAfter(full, absl::InfiniteDuration())),
            absl::Minutes(1));
}

}  // namespace
}  // namespace reprise
