#include "server/grpc/work_threads.h"

#include <utility>

namespace reprise {

WorkThreads::WorkThreads(const std::string& name, int count) {
  for (int i = 0; i < count; ++i)
    threads_.emplace_back(name, [this] { Loop(); });
}

void WorkThreads::Run(std::function<void()> work) {
  absl::MutexLock lock(&mu_);
  waiting_.push_back(std::move(work));
}

void WorkThreads::Stop() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  for (Thread& thread : threads_) thread.Join();
}

void WorkThreads::Loop() {
  for (;;) {
    std::function<void()> work;
    {
      absl::MutexLock lock(&mu_);
      mu_.Await(absl::Condition(this, &WorkThreads::Awake));
      if (waiting_.empty()) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    work();
  }
}

}  // namespace reprise
