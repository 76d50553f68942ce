// The times of a rung: a median and a tail that follow every run.
#pragma once

#include <vector>

#include "absl/time/time.h"
#include "runtime/tensor/ladder.h"

namespace reprise {

// The value at `share` (0..1] of the sorted `times`: nearest rank. `times` is
// not empty.
absl::Duration QuantileOf(std::vector<absl::Duration> times, double share);

// Moves the quantiles of `rung` a little towards what `time` says of them, in
// constant time and without memory: each estimate rises by a step when a run is
// above it and falls when it is below, in the ratio that leaves it at rest on
// its quantile. p99.9 never stands below p50.
void UpdateRung(Rung& rung, absl::Duration time);

}  // namespace reprise
