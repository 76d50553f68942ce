#include "tests/testing/gate.h"

namespace reprise::testing {

bool Gate::Enter() {
  absl::MutexLock lock(&mu_);
  if (closed_) return false;
  ++inside_;
  return true;
}

void Gate::Leave() {
  absl::MutexLock lock(&mu_);
  --inside_;
}

void Gate::Close() {
  absl::MutexLock lock(&mu_);
  closed_ = true;
}

bool Gate::Drain(Clock& clock, absl::Time deadline) {
  absl::MutexLock lock(&mu_);
  return clock.Await(mu_, absl::Condition(this, &Gate::Empty), deadline);
}

int64_t Gate::inside() const {
  absl::MutexLock lock(&mu_);
  return inside_;
}

}  // namespace reprise::testing
