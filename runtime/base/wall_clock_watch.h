// Tells timed waits when the wall clock was set.
#pragma once

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "runtime/base/thread.h"

namespace reprise {

// Abseil ends a timed wait at an instant of the wall clock, also where it is
// given a duration. Where that clock is set back meanwhile, the wait would last
// longer by as much: so each says that it has begun, is told, and measures
// again. (Set forward, it ends early, which its owner sees.)
//
// Lifecycle: never destroyed; its thread starts with the first wait.
// Threads: any.
class WallClockWatch {
 public:
  // One wait, in its owner's hands.
  struct Wait {
    explicit Wait(absl::Mutex& mutex) : mu(mutex) {}

    absl::Mutex& mu;     // that is waited on
    bool again = false;  // told; guarded by `mu`

   private:
    friend class WallClockWatch;
    uint64_t number_ = 0;
    Wait* before_ = nullptr;
    Wait* after_ = nullptr;
  };

  // Both with wait.mu held.
  void Begin(Wait& wait) ABSL_LOCKS_EXCLUDED(mu_);
  void End(Wait& wait) ABSL_LOCKS_EXCLUDED(mu_);

  // Sets `again` of every wait that has begun, with its mutex held, so that its
  // condition is looked at. Blocks until each mutex was to be had.
  void Tell() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  bool TellSome(uint64_t until) ABSL_LOCKS_EXCLUDED(mu_);
  void Run();

  // Taken with the mutex of a wait held; never held while one is waited for.
  absl::Mutex mu_;
  bool started_ ABSL_GUARDED_BY(mu_) = false;
  uint64_t begun_ ABSL_GUARDED_BY(mu_) = 0;
  Wait* first_ ABSL_GUARDED_BY(mu_) = nullptr;  // the youngest

  Thread thread_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reprise
