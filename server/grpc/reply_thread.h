// The thread that encodes and sends replies.
#pragma once

#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "runtime/base/thread.h"

namespace reprise {

// Something that has a reply to send.
class PendingReply {
 public:
  virtual ~PendingReply() = default;
  virtual void Reply() = 0;
};

// Workers must not encode or call gRPC: they push what they completed, and this
// thread takes all that waits at once.
//
// Lifecycle: Push any number of times, Stop once; what was pushed before Stop
// is still replied. Threads: Push from any thread, without waiting.
class ReplyThread {
 public:
  ReplyThread();
  ~ReplyThread() { Stop(); }

  // `call` must live until its Reply has begun.
  void Push(PendingReply* call) ABSL_LOCKS_EXCLUDED(mu_);
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  bool Awake() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return stopping_ || !waiting_.empty();
  }
  void Run() ABSL_LOCKS_EXCLUDED(mu_);

  absl::Mutex mu_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<PendingReply*> waiting_ ABSL_GUARDED_BY(mu_);
  Thread thread_;
};

}  // namespace reprise
