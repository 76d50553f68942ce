#include "runtime/base/clock.h"

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "runtime/base/thread.h"

namespace reprise {
namespace {

TEST(RealClockTest, IsOneObject) {
  EXPECT_EQ(&RealClock::Get(), &RealClock::Get());
}

TEST(RealClockTest, IsSetToThisCentury) {
  EXPECT_GT(RealClock::Get().Now(), absl::FromUnixSeconds(1'577'836'800));
}

TEST(RealClockTest, AwaitSaysThatTheConditionHolds) {
  absl::Mutex mu;
  const bool yes = true;
  absl::MutexLock lock(&mu);
  EXPECT_TRUE(
      RealClock::Get().Await(mu, absl::Condition(&yes), absl::InfinitePast()));
}

TEST(RealClockTest, AwaitGivesUpAtTheDeadline) {
  absl::Mutex mu;
  const bool never = false;
  const absl::Time deadline = RealClock::Get().Now() + absl::Milliseconds(2);
  absl::MutexLock lock(&mu);
  EXPECT_FALSE(RealClock::Get().Await(mu, absl::Condition(&never), deadline));
  EXPECT_GE(RealClock::Get().Now(), deadline);
}

TEST(RealClockTest, AwaitWakesWhenAnotherThreadMakesItTrue) {
  absl::Mutex mu;
  bool ready = false;
  const Thread setter("setter", [&mu, &ready] {
    absl::MutexLock lock(&mu);
    ready = true;
  });
  absl::MutexLock lock(&mu);
  EXPECT_TRUE(RealClock::Get().Await(mu, absl::Condition(&ready),
                                     absl::InfiniteFuture()));
}

}  // namespace
}  // namespace reprise
