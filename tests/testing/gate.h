// Counts what is in flight and lets a closer wait for it.
#pragma once

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"

namespace reprise::testing {

// open -> closed. Once closed, nobody enters any more; those inside may finish.
//
// Threads: every method may be called from any thread.
class Gate {
 public:
  // False, and nothing is counted, once the gate is closed.
  bool Enter() ABSL_LOCKS_EXCLUDED(mu_);
  void Leave() ABSL_LOCKS_EXCLUDED(mu_);

  void Close() ABSL_LOCKS_EXCLUDED(mu_);

  // Waits until nobody is inside or `deadline` has passed; returns whether it
  // is empty.
  bool Drain(Clock& clock, absl::Time deadline) ABSL_LOCKS_EXCLUDED(mu_);

  int64_t inside() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  bool Empty() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return inside_ == 0; }

  mutable absl::Mutex mu_;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  int64_t inside_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace reprise::testing
