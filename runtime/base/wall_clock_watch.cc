#include "runtime/base/wall_clock_watch.h"

#include <sched.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "runtime/base/file_descriptor.h"

namespace reprise {

void WallClockWatch::Begin(Wait& wait) {
  absl::MutexLock lock(&mu_);
  if (!started_) {
    started_ = true;
    thread_ = Thread("wall-clock", [this] { Run(); });
  }
  wait.number_ = ++begun_;
  wait.before_ = nullptr;
  wait.after_ = first_;
  if (first_ != nullptr) first_->before_ = &wait;
  first_ = &wait;
}

void WallClockWatch::End(Wait& wait) {
  absl::MutexLock lock(&mu_);
  if (wait.after_ != nullptr) wait.after_->before_ = wait.before_;
  if (wait.before_ != nullptr) {
    wait.before_->after_ = wait.after_;
  } else {
    first_ = wait.after_;
  }
}

// Those up to number `until` whose mutex is free just now; whether that was
// all. A wait whose mutex is taken may be about to end, which needs `mu_`.
bool WallClockWatch::TryNotifyAll(uint64_t until) {
  bool all = true;
  absl::MutexLock lock(&mu_);
  for (Wait* wait = first_; wait != nullptr; wait = wait->after_) {
    if (wait->number_ > until) continue;
    if (!wait->mu.TryLock()) {
      all = false;
      continue;
    }
    wait->again = true;
    wait->mu.Unlock();
  }
  return all;
}

void WallClockWatch::NotifyAll() {
  uint64_t until = 0;
  {
    absl::MutexLock lock(&mu_);
    until = begun_;  // who begins later measures by the clock as it is now
  }
  while (!TryNotifyAll(until)) sched_yield();
}

// A timer that never fires: reading it fails whenever the clock was set.
void WallClockWatch::Run() {
  const FileDescriptor timer(timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC));
  if (!timer.valid()) return;
  itimerspec never{};
  never.it_value.tv_sec = std::numeric_limits<time_t>::max();
  while (timerfd_settime(timer.get(),
                         TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never,
                         nullptr) == 0) {
    uint64_t fired = 0;
    const ssize_t got = read(timer.get(), &fired, sizeof(fired));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno != ECANCELED) break;
    NotifyAll();
  }
}

}  // namespace reprise
