#include "runtime/base/thread.h"

#include <pthread.h>

#include <utility>

namespace reprise {

Thread::Thread(const std::string& name, std::function<void()> body)
    : thread_([short_name = name.substr(0, 15), run = std::move(body)] {
        pthread_setname_np(pthread_self(), short_name.c_str());
        run();
      }) {}

Thread& Thread::operator=(Thread&& other) noexcept {
  Join();
  thread_ = std::move(other.thread_);
  return *this;
}

void Thread::Join() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace reprise
