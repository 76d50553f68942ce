#include "runtime/base/clock.h"

#include "absl/time/clock.h"

namespace reprise {

RealClock& RealClock::Get() {
  static RealClock* const clock = new RealClock;
  return *clock;
}

absl::Time RealClock::Now() const { return absl::Now(); }

bool RealClock::Await(absl::Mutex& mu, const absl::Condition& condition,
                      absl::Time deadline) {
  return mu.AwaitWithDeadline(condition, deadline);
}

}  // namespace reprise
