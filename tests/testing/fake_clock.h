// A clock that tests advance by hand.
#pragma once

#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"

namespace reprise::testing {

// Starts at an arbitrary instant and moves only by Advance. Waiters whose
// deadline passes wake: Advance locks and unlocks the mutex of each.
class FakeClock final : public Clock {
 public:
  absl::Time Now() const override ABSL_LOCKS_EXCLUDED(mu_);
  bool Await(absl::Mutex& mu, const absl::Condition& condition,
             absl::Time deadline) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  void Advance(absl::Duration by) ABSL_LOCKS_EXCLUDED(mu_);

  absl::Duration WallOffset() const override ABSL_LOCKS_EXCLUDED(mu_);
  // As if the wall clock were set.
  void SetWallOffset(absl::Duration offset) ABSL_LOCKS_EXCLUDED(mu_);

  // Blocks until `count` threads wait on this clock: how a test knows that the
  // code under test has come to rest.
  void AwaitWaiters(int count) ABSL_LOCKS_EXCLUDED(mu_);

  // Blocks until the earliest deadline that a waiter has is `deadline`.
  void AwaitDeadline(absl::Time deadline) ABSL_LOCKS_EXCLUDED(mu_);

  // The earliest deadline that a waiter has; InfiniteFuture without one.
  absl::Time NextDeadline() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  absl::Time Earliest() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  struct Waiter {
    absl::Mutex* mu;
    absl::Time deadline;
  };

  mutable absl::Mutex mu_;
  absl::Time now_ ABSL_GUARDED_BY(mu_) = absl::FromUnixSeconds(1'700'000'000);
  absl::Duration wall_offset_ ABSL_GUARDED_BY(mu_);
  std::vector<Waiter*> waiters_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reprise::testing
