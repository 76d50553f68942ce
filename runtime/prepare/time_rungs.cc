#include "runtime/prepare/time_rungs.h"

#include <vector>

#include "runtime/base/status_macros.h"
#include "runtime/prepare/quantile.h"

namespace reprise {
namespace {

constexpr size_t kTimedRuns = 50;
constexpr size_t kLeastTimedRuns = 3;
constexpr absl::Duration kTimingBudget = absl::Milliseconds(500);

}  // namespace

absl::Status TimeRungs(
    Clock& clock,
    absl::FunctionRef<absl::StatusOr<absl::Duration>(size_t rung)> run,
    Ladder& ladder) {
  for (size_t i = 0; i < ladder.size(); ++i) {
    REPRISE_RETURN_IF_ERROR(run(i).status());  // warm-up
    std::vector<absl::Duration> times;
    const absl::Time end = clock.Now() + kTimingBudget;
    while (times.size() < kTimedRuns &&
           (times.size() < kLeastTimedRuns || clock.Now() < end)) {
      REPRISE_ASSIGN_OR_RETURN(const absl::Duration time, run(i));
      times.push_back(time);
    }
    ladder[i].p50 = QuantileOf(times, 0.5);
    ladder[i].p999 = QuantileOf(times, 0.999);
  }
  return absl::OkStatus();
}

}  // namespace reprise
