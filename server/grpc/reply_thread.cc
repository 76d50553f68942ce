#include "server/grpc/reply_thread.h"

namespace reprise {

ReplyThread::ReplyThread() : thread_("reply", [this] { Run(); }) {}

void ReplyThread::Push(PendingReply* call) {
  absl::MutexLock lock(&mu_);
  waiting_.push_back(call);
}

void ReplyThread::Stop() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  thread_.Join();
}

void ReplyThread::Run() {
  std::vector<PendingReply*> batch;
  for (;;) {
    {
      absl::MutexLock lock(&mu_);
      mu_.Await(absl::Condition(this, &ReplyThread::Awake));
      if (waiting_.empty()) return;
      batch.swap(waiting_);
    }
    for (PendingReply* call : batch) call->Reply();
    batch.clear();
  }
}

}  // namespace reprise
