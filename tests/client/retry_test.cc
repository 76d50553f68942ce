#include "client/retry.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise::client {
namespace {

using ::testing::Eq;
using ::testing::Optional;
using Code = absl::StatusCode;

TEST(RetryTest, BacksOffWhileTheServerIsUnavailable) {
  const RetryPolicy policy{4, absl::Milliseconds(100), absl::Milliseconds(250)};
  EXPECT_THAT(NextAttempt(policy, 1, Code::kUnavailable, {}),
              Optional(absl::Milliseconds(100)));
  EXPECT_THAT(NextAttempt(policy, 2, Code::kUnavailable, {}),
              Optional(absl::Milliseconds(200)));
  EXPECT_THAT(NextAttempt(policy, 3, Code::kUnavailable, {}),
              Optional(absl::Milliseconds(250)));
  EXPECT_THAT(NextAttempt(policy, 4, Code::kUnavailable, {}), Eq(std::nullopt));
}

TEST(RetryTest, WaitsAsLongAsTheServerAsks) {
  const RetryPolicy policy;
  EXPECT_THAT(NextAttempt(policy, 1, Code::kResourceExhausted,
                          {true, absl::Milliseconds(7)}),
              Optional(absl::Milliseconds(7)));
  EXPECT_THAT(
      NextAttempt(policy, 1, Code::kUnavailable, {true, absl::ZeroDuration()}),
      Optional(absl::ZeroDuration()));
}

TEST(RetryTest, GivesUpWhereTheServerSaysSoOrAsksForTooLong) {
  const RetryPolicy policy;
  EXPECT_THAT(NextAttempt(policy, 1, Code::kUnavailable,
                          {true, absl::Milliseconds(-1)}),
              Eq(std::nullopt));
  EXPECT_THAT(NextAttempt(policy, 1, Code::kResourceExhausted,
                          {true, absl::Seconds(6)}),
              Eq(std::nullopt));
  EXPECT_THAT(NextAttempt(policy, 1, Code::kResourceExhausted, {}),
              Eq(std::nullopt));
}

TEST(RetryTest, NeverRepeatsWhatMayHaveBeenDone) {
  for (const Code code : {Code::kDeadlineExceeded, Code::kInternal,
                          Code::kCancelled, Code::kInvalidArgument}) {
    EXPECT_THAT(
        NextAttempt(RetryPolicy{}, 1, code, {true, absl::ZeroDuration()}),
        Eq(std::nullopt));
  }
}

TEST(RetryTest, ReadsThePushback) {
  const auto read = [](const char* text) {
    return ReadPushback({{"grpc-retry-pushback-ms", text}});
  };
  EXPECT_FALSE(ReadPushback({{"other", "5"}}).given);
  EXPECT_TRUE(read("25").given);
  EXPECT_EQ(read("25").wait, absl::Milliseconds(25));
  EXPECT_LT(read("-1").wait, absl::ZeroDuration());
  EXPECT_LT(read("soon").wait, absl::ZeroDuration());
}

}  // namespace
}  // namespace reprise::client
