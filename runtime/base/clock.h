// Time as a parameter: the one place that reads the real clock.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "runtime/base/wall_clock_watch.h"

namespace reprise {

// What needs the time takes a Clock&, so that tests can set it. The clock also
// does the timed wait: a fake clock must be able to wake those that wait on it.
//
// Monotonic: Now() never goes back and nobody can set it. Wall-clock times
// (shown to users, or from other libraries) are converted with ToWall and
// FromWall.
//
// Threads: every method may be called from any thread.
class Clock {
 public:
  virtual ~Clock() = default;

  virtual absl::Time Now() const = 0;

  // What the wall clock shows now, less Now().
  virtual absl::Duration WallOffset() const { return absl::ZeroDuration(); }
  absl::Time ToWall(absl::Time time) const { return time + WallOffset(); }
  absl::Time FromWall(absl::Time wall) const { return wall - WallOffset(); }

  // Waits, with `mu` held, until `condition` is true or `deadline` has passed;
  // returns whether the condition is true. InfiniteFuture waits for ever.
  virtual bool Await(absl::Mutex& mu, const absl::Condition& condition,
                     absl::Time deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) = 0;

  // How long after its deadline a wait usually ends; at most 100 us.
  virtual absl::Duration Lateness() const { return absl::ZeroDuration(); }
};

// The time since the machine's start, moved so that it agreed with the wall
// clock when it was first asked for.
class RealClock final : public Clock {
 public:
  // The process's clock; never destroyed.
  static RealClock& Get();

  absl::Time Now() const override;
  absl::Duration WallOffset() const override;
  bool Await(absl::Mutex& mu, const absl::Condition& condition,
             absl::Time deadline) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  absl::Duration Lateness() const override;

 private:
  RealClock();
  void Learn(absl::Duration late);

  const int64_t start_ns_;  // the wall clock at the machine's start
  std::atomic<int64_t> lateness_ns_{0};
  WallClockWatch watch_;
};

}  // namespace reprise
