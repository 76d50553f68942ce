// Time as a parameter: the one place that reads the real clock.
#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace reprise {

// What needs the time takes a Clock&, so that tests can set it. The clock also
// does the timed wait: a fake clock must be able to wake those that wait on it.
//
// Threads: every method may be called from any thread.
class Clock {
 public:
  virtual ~Clock() = default;

  virtual absl::Time Now() const = 0;

  // Waits, with `mu` held, until `condition` is true or `deadline` has passed;
  // returns whether the condition is true. InfiniteFuture waits for ever.
  virtual bool Await(absl::Mutex& mu, const absl::Condition& condition,
                     absl::Time deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) = 0;
};

class RealClock final : public Clock {
 public:
  // The process's clock; never destroyed.
  static RealClock& Get();

  absl::Time Now() const override;
  bool Await(absl::Mutex& mu, const absl::Condition& condition,
             absl::Time deadline) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
};

}  // namespace reprise
