#include "runtime/base/clock.h"

#include <time.h>

namespace reprise {
namespace {

int64_t ReadNanos(clockid_t id) {
  timespec now;
  clock_gettime(id, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

RealClock& RealClock::Get() {
  static RealClock* const clock = new RealClock;
  return *clock;
}

RealClock::RealClock()
    : start_ns_(ReadNanos(CLOCK_REALTIME) - ReadNanos(CLOCK_MONOTONIC)) {}

absl::Time RealClock::Now() const {
  return absl::FromUnixNanos(start_ns_ + ReadNanos(CLOCK_MONOTONIC));
}

absl::Duration RealClock::WallOffset() const {
  const int64_t now = start_ns_ + ReadNanos(CLOCK_MONOTONIC);
  // Read last, so that what is converted comes late by a few ns, not early.
  return absl::Nanoseconds(ReadNanos(CLOCK_REALTIME) - now);
}

bool RealClock::Await(absl::Mutex& mu, const absl::Condition& condition,
                      absl::Time deadline) {
  if (deadline == absl::InfiniteFuture()) {
    mu.Await(condition);
    return true;
  }
  if (condition.Eval()) return true;
  if (deadline == absl::InfinitePast() || deadline <= Now()) return false;
  WallClockWatch::Wait wait(mu);
  struct Wanted {
    const absl::Condition* condition;
    const bool* again;
    bool Eval() const { return *again || condition->Eval(); }
  } wanted{&condition, &wait.again};
  bool holds = false;
  watch_.Begin(wait);
  do {
    wait.again = false;
    mu.AwaitWithDeadline(absl::Condition(&wanted, &Wanted::Eval),
                         ToWall(deadline));
    holds = condition.Eval();
  } while (!holds && Now() < deadline);
  watch_.End(wait);
  return holds;
}

}  // namespace reprise
