#include "tests/testing/fake_clock.h"

#include <atomic>

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "runtime/base/thread.h"

namespace reprise::testing {
namespace {

TEST(FakeClockTest, MovesOnlyWhenAdvanced) {
  FakeClock clock;
  const absl::Time start = clock.Now();
  EXPECT_EQ(clock.Now(), start);
  clock.Advance(absl::Milliseconds(5));
  EXPECT_EQ(clock.Now(), start + absl::Milliseconds(5));
}

TEST(FakeClockTest, SettingTheWallClockMovesWhatIsShownAndNothingElse) {
  FakeClock clock;
  const absl::Time now = clock.Now();
  EXPECT_EQ(clock.ToWall(now), now);
  clock.SetWallOffset(-absl::Hours(1));
  EXPECT_EQ(clock.Now(), now);
  EXPECT_EQ(clock.ToWall(now), now - absl::Hours(1));
  EXPECT_EQ(clock.FromWall(now - absl::Hours(1)), now);
}

TEST(FakeClockTest, AwaitReturnsAtOnceWhenThereIsNothingToWaitFor) {
  FakeClock clock;
  absl::Mutex mu;
  const bool yes = true;
  const bool no = false;
  absl::MutexLock lock(&mu);
  EXPECT_TRUE(clock.Await(mu, absl::Condition(&yes), absl::InfiniteFuture()));
  EXPECT_FALSE(clock.Await(mu, absl::Condition(&no), clock.Now()));
}

TEST(FakeClockTest, AdvanceWakesThoseWhoseDeadlinePasses) {
  FakeClock clock;
  absl::Mutex mu;
  const bool never = false;
  std::atomic<int> woken{0};
  const auto wait = [&](absl::Time deadline) {
    absl::MutexLock lock(&mu);
    EXPECT_FALSE(clock.Await(mu, absl::Condition(&never), deadline));
    ++woken;
  };
  const absl::Time start = clock.Now();
  Thread early("early", [&] { wait(start + absl::Seconds(1)); });
  Thread late("late", [&] { wait(start + absl::Seconds(2)); });
  clock.AwaitWaiters(2);
  EXPECT_EQ(clock.NextDeadline(), start + absl::Seconds(1));

  clock.Advance(absl::Seconds(1));
  early.Join();
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(clock.NextDeadline(), start + absl::Seconds(2));

  clock.Advance(absl::Seconds(1));
  late.Join();
  EXPECT_EQ(woken, 2);
  EXPECT_EQ(clock.NextDeadline(), absl::InfiniteFuture());
}

TEST(FakeClockTest, AConditionWakesWithoutTheClock) {
  FakeClock clock;
  absl::Mutex mu;
  bool ready = false;
  std::atomic<bool> held{false};
  Thread waiter("waiter", [&] {
    absl::MutexLock lock(&mu);
    held = clock.Await(mu, absl::Condition(&ready), absl::InfiniteFuture());
  });
  clock.AwaitWaiters(1);
  {
    absl::MutexLock lock(&mu);
    ready = true;
  }
  waiter.Join();
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace reprise::testing
