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

TEST(RealClockTest, NeverGoesBack) {
  absl::Time last = RealClock::Get().Now();
  for (int i = 0; i < 10'000; ++i) {
    const absl::Time now = RealClock::Get().Now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(RealClockTest, ConvertsToTheWallClockAndBack) {
  const RealClock& clock = RealClock::Get();
  const absl::Time now = clock.Now();
  EXPECT_LT(absl::AbsDuration(clock.FromWall(clock.ToWall(now)) - now),
            absl::Seconds(1));
  EXPECT_EQ(clock.ToWall(absl::InfiniteFuture()), absl::InfiniteFuture());
  EXPECT_EQ(clock.FromWall(absl::InfiniteFuture()), absl::InfiniteFuture());
}

TEST(RealClockTest, AwaitSaysThatTheConditionHolds) {
  absl::Mutex mu;
  const bool yes = true;
  absl::MutexLock lock(&mu);
  EXPECT_TRUE(
      RealClock::Get().Await(mu, absl::Condition(&yes), absl::InfinitePast()));
}

TEST(RealClockTest, AwaitGivesUpAtOnceWhenTheDeadlineHasPassed) {
  absl::Mutex mu;
  const bool never = false;
  absl::MutexLock lock(&mu);
  EXPECT_FALSE(RealClock::Get().Await(mu, absl::Condition(&never),
                                      absl::InfinitePast()));
  EXPECT_FALSE(RealClock::Get().Await(mu, absl::Condition(&never),
                                      RealClock::Get().Now()));
}

TEST(RealClockTest, AwaitGivesUpAtTheDeadline) {
  absl::Mutex mu;
  const bool never = false;
  const absl::Time deadline = RealClock::Get().Now() + absl::Milliseconds(2);
  absl::MutexLock lock(&mu);
  EXPECT_FALSE(RealClock::Get().Await(mu, absl::Condition(&never), deadline));
  EXPECT_GE(RealClock::Get().Now(), deadline);
}

TEST(RealClockTest, KnowsHowLateItsWaitsEnd) {
  RealClock& clock = RealClock::Get();
  absl::Mutex mu;
  bool never = false;
  {
    absl::MutexLock lock(&mu);
    clock.Await(mu, absl::Condition(&never),
                clock.Now() + absl::Microseconds(100));
  }
  EXPECT_GT(clock.Lateness(), absl::ZeroDuration());
  EXPECT_LE(clock.Lateness(), absl::Microseconds(100));
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

TEST(RealClockTest, ATimedAwaitWakesWhenAnotherThreadMakesItTrue) {
  absl::Mutex mu;
  bool ready = false;
  const Thread setter("setter", [&mu, &ready] {
    absl::MutexLock lock(&mu);
    ready = true;
  });
  absl::MutexLock lock(&mu);
  EXPECT_TRUE(RealClock::Get().Await(mu, absl::Condition(&ready),
                                     RealClock::Get().Now() + absl::Hours(1)));
}

}  // namespace
}  // namespace reprise
