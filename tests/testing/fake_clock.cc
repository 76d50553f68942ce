#include "tests/testing/fake_clock.h"

#include <algorithm>
#include <cstddef>

namespace reprise::testing {

absl::Time FakeClock::Now() const {
  absl::MutexLock lock(&mu_);
  return now_;
}

absl::Duration FakeClock::WallOffset() const {
  absl::MutexLock lock(&mu_);
  return wall_offset_;
}

void FakeClock::SetWallOffset(absl::Duration offset) {
  absl::MutexLock lock(&mu_);
  wall_offset_ = offset;
}

bool FakeClock::Await(absl::Mutex& mu, const absl::Condition& condition,
                      absl::Time deadline) {
  Waiter waiter{&mu, deadline};
  {
    absl::MutexLock lock(&mu_);
    waiters_.push_back(&waiter);
  }
  struct State {
    FakeClock* clock;
    const absl::Condition* condition;
    absl::Time deadline;
    bool Done() const { return condition->Eval() || clock->Now() >= deadline; }
  } state{this, &condition, deadline};
  mu.Await(absl::Condition(&state, &State::Done));
  {
    absl::MutexLock lock(&mu_);
    waiters_.erase(std::find(waiters_.begin(), waiters_.end(), &waiter));
  }
  return condition.Eval();
}

void FakeClock::Advance(absl::Duration by) {
  std::vector<absl::Mutex*> mutexes;
  {
    absl::MutexLock lock(&mu_);
    now_ += by;
    for (const Waiter* waiter : waiters_) mutexes.push_back(waiter->mu);
  }
  for (absl::Mutex* mutex : mutexes) {  // makes Abseil look at the conditions
    mutex->Lock();
    mutex->Unlock();
  }
}

void FakeClock::AwaitWaiters(int count) {
  struct Wanted {
    FakeClock* clock;
    size_t count;
    bool Enough() const ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return clock->waiters_.size() >= count;
    }
  } wanted{this, static_cast<size_t>(count)};
  absl::MutexLock lock(&mu_, absl::Condition(&wanted, &Wanted::Enough));
}

absl::Time FakeClock::Earliest() const {
  absl::Time next = absl::InfiniteFuture();
  for (const Waiter* waiter : waiters_) next = std::min(next, waiter->deadline);
  return next;
}

void FakeClock::AwaitDeadline(absl::Time deadline) {
  struct Wanted {
    FakeClock* clock;
    absl::Time deadline;
    bool Armed() const ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return clock->Earliest() == deadline;
    }
  } wanted{this, deadline};
  absl::MutexLock lock(&mu_, absl::Condition(&wanted, &Wanted::Armed));
}

absl::Time FakeClock::NextDeadline() const {
  absl::MutexLock lock(&mu_);
  return Earliest();
}

}  // namespace reprise::testing
