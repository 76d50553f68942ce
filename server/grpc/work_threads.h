// Threads for work that a thread that polls gRPC must not do itself.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "runtime/base/thread.h"

namespace reprise {

// Lifecycle: Run any number of times, Stop once: it returns when all that was
// handed over has been done.
// Threads: Run from any thread, without waiting.
class WorkThreads {
 public:
  WorkThreads(const std::string& name, int count);
  ~WorkThreads() { Stop(); }

  void Run(std::function<void()> work) ABSL_LOCKS_EXCLUDED(mu_);
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  bool Awake() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return stopping_ || !waiting_.empty();
  }
  void Loop() ABSL_LOCKS_EXCLUDED(mu_);

  absl::Mutex mu_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<std::function<void()>> waiting_ ABSL_GUARDED_BY(mu_);
  std::vector<Thread> threads_;
};

}  // namespace reprise
