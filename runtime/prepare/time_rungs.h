// What the rungs of a new variant take.
#pragma once

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "runtime/tensor/ladder.h"

namespace reprise {

// Runs each rung once to warm it up, then up to 50 times, for half a second,
// but at least three times; p50 and p99.9 are of what `run` says that these
// took. `run(i)` runs rung i; its first error is returned.
absl::Status TimeRungs(
    Clock& clock,
    absl::FunctionRef<absl::StatusOr<absl::Duration>(size_t rung)> run,
    Ladder& ladder);

}  // namespace reprise
