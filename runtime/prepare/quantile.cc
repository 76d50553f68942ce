#include "runtime/prepare/quantile.h"

#include <algorithm>
#include <cmath>

namespace reprise {
namespace {

// The step of the median as a share of itself: it follows a change of speed
// within some hundred runs and wavers by about a percent.
constexpr double kStep = 0.02;

absl::Duration Moved(absl::Duration estimate, absl::Duration time,
                     absl::Duration step, double share) {
  return time > estimate ? estimate + step * share
                         : estimate - step * (1 - share);
}

}  // namespace

absl::Duration QuantileOf(std::vector<absl::Duration> times, double share) {
  std::sort(times.begin(), times.end());
  const auto rank =
      static_cast<size_t>(std::ceil(share * static_cast<double>(times.size())));
  return times[std::clamp<size_t>(rank, 1, times.size()) - 1];
}

void UpdateRung(Rung& rung, absl::Duration time) {
  if (rung.p50 == absl::ZeroDuration()) {  // the first run
    rung.p50 = time;
    rung.p999 = std::max(rung.p999, time);
    return;
  }
  const absl::Duration step = rung.p50 * kStep;
  rung.p50 = Moved(rung.p50, time, step, 0.5);
  rung.p999 = Moved(rung.p999, time, step * 10, 0.999);
  rung.p999 = std::max(rung.p999, rung.p50);
}

}  // namespace reprise
