#include "runtime/base/wall_clock_watch.h"

#include "absl/synchronization/mutex.h"
#include "gtest/gtest.h"
#include "runtime/base/thread.h"

namespace reprise {
namespace {

// As RealClock's: never destroyed.
WallClockWatch& Watch() {
  static auto* const watch = new WallClockWatch;
  return *watch;
}

TEST(WallClockWatchTest, WithoutAWaitThereIsNobodyToTell) {
  WallClockWatch().NotifyAll();
}

TEST(WallClockWatchTest, AWaitIsToldAndItsConditionLookedAt) {
  absl::Mutex mu;
  bool begun = false;
  const Thread waiter("waiter", [&] {
    WallClockWatch::Wait wait(mu);
    absl::MutexLock lock(&mu);
    Watch().Begin(wait);
    begun = true;
    mu.Await(absl::Condition(&wait.again));
    Watch().End(wait);
  });
  { absl::MutexLock lock(&mu, absl::Condition(&begun)); }
  Watch().NotifyAll();
}

TEST(WallClockWatchTest, AWaitWhoseMutexIsTakenIsToldOnceItIsFree) {
  absl::Mutex mu;
  WallClockWatch::Wait wait(mu);
  mu.Lock();
  Watch().Begin(wait);
  Thread notifier("notifier", [] { Watch().NotifyAll(); });
  EXPECT_FALSE(wait.again);
  mu.Unlock();
  notifier.Join();
  absl::MutexLock lock(&mu);
  EXPECT_TRUE(wait.again);
  Watch().End(wait);
}

TEST(WallClockWatchTest, AWaitThatEndsMeanwhileIsLeftAlone) {
  absl::Mutex mu;
  WallClockWatch::Wait first(mu);
  WallClockWatch::Wait second(mu);
  WallClockWatch::Wait third(mu);
  {
    absl::MutexLock lock(&mu);
    for (WallClockWatch::Wait* wait : {&first, &second, &third}) {
      Watch().Begin(*wait);
    }
    Watch().End(second);
  }
  Watch().NotifyAll();
  absl::MutexLock lock(&mu);
  EXPECT_TRUE(first.again);
  EXPECT_FALSE(second.again);
  EXPECT_TRUE(third.again);
  Watch().End(first);
  Watch().End(third);
}

TEST(WallClockWatchTest, AWaitThatHasEndedHoldsNobodyUp) {
  absl::Mutex mu;
  WallClockWatch::Wait wait(mu);
  mu.Lock();
  Watch().Begin(wait);
  Thread notifier("notifier", [] { Watch().NotifyAll(); });
  Watch().End(wait);
  notifier.Join();
  mu.Unlock();
}

}  // namespace
}  // namespace reprise
