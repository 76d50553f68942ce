// How fast rows arrive.
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/time/time.h"

namespace reprise {

// Rows per second over the last 50 to 100 ms: a running window and the one
// before it, weighted by what of that one still counts.
//
// Threads: guarded by its owner.
class RateEstimator {
 public:
  static constexpr absl::Duration kWindow = absl::Milliseconds(50);

  void Add(int rows, absl::Time now) {
    Roll(now);
    current_ += rows;
  }

  double PerSecond(absl::Time now) const {
    RateEstimator at = *this;
    at.Roll(now);
    const double part = absl::FDivDuration(now - at.begin_, kWindow);
    const double rows =
        at.previous_ * (1.0 - std::clamp(part, 0.0, 1.0)) + at.current_;
    return rows / absl::ToDoubleSeconds(kWindow);
  }

 private:
  void Roll(absl::Time now) {
    if (now < begin_ + kWindow) return;
    if (now < begin_ + 2 * kWindow) {
      previous_ = current_;
      begin_ += kWindow;
    } else {
      previous_ = 0;
      begin_ = now;
    }
    current_ = 0;
  }

  absl::Time begin_ = absl::InfinitePast();
  double current_ = 0;
  double previous_ = 0;
};

}  // namespace reprise
