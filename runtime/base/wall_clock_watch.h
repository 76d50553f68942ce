// Wakes timed waits when the wall clock is set.
#pragma once

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "runtime/base/thread.h"

namespace reprise {

// Abseil ends a timed wait at a wall-clock instant, also where it is given a
// duration. If the clock is set back, the wait would last too long; so every
// wait registers here, is woken when the clock is set, and computes its
// deadline again. (Set forward, it ends early, which its owner sees.)
//
// Lifecycle: never destroyed; its thread starts with the first wait.
// Threads: any.
class WallClockWatch {
 public:
  // A registered wait; owned by the waiting thread.
  struct Wait {
    explicit Wait(absl::Mutex& mutex) : mu(mutex) {}

    absl::Mutex& mu;     // the mutex being waited on
    bool again = false;  // the clock was set; guarded by `mu`

   private:
    friend class WallClockWatch;
    uint64_t number_ = 0;
    Wait* before_ = nullptr;
    Wait* after_ = nullptr;
  };

  // Both with wait.mu held.
  void Begin(Wait& wait) ABSL_LOCKS_EXCLUDED(mu_);
  void End(Wait& wait) ABSL_LOCKS_EXCLUDED(mu_);

  // Sets `again` of every registered wait, with its mutex held, so that its
  // condition is looked at. Blocks until every waiter's mutex could be taken.
  void NotifyAll() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  bool TryNotifyAll(uint64_t until) ABSL_LOCKS_EXCLUDED(mu_);
  void Run();

  // Taken with the mutex of a wait held; never held while one is waited for.
  absl::Mutex mu_;
  bool started_ ABSL_GUARDED_BY(mu_) = false;
  uint64_t begun_ ABSL_GUARDED_BY(mu_) = 0;
  Wait* first_ ABSL_GUARDED_BY(mu_) = nullptr;  // the youngest

  Thread thread_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reprise
