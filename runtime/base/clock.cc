#include "runtime/base/clock.h"

#include <time.h>

#include <algorithm>

namespace reprise {
namespace {

constexpr absl::Duration kMostLateness = absl::Microseconds(100);
constexpr int64_t kLatenessWeight = 8;  // one part in so many is the newest

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
  if (!holds) Learn(Now() - deadline);
  return holds;
}

absl::Duration RealClock::Lateness() const {
  return absl::Nanoseconds(lateness_ns_.load(std::memory_order_relaxed));
}

// A moving average, in which a wait that the machine was too busy to end counts
// as the bound. Two threads at once may lose one of their times.
void RealClock::Learn(absl::Duration late) {
  const int64_t before = lateness_ns_.load(std::memory_order_relaxed);
  const int64_t newest =
      absl::ToInt64Nanoseconds(std::min(late, kMostLateness));
  lateness_ns_.store(before + (newest - before) / kLatenessWeight,
                     std::memory_order_relaxed);
}

}  // namespace reprise
