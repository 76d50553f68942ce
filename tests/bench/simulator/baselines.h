// What other servers do, by their published rules: for comparison only.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/batch/policy.h"

namespace reprise::bench {

// Each looks at the first queue alone and expects requests of one row.
using Policy = std::function<Decision(const DeviceView&, absl::Time)>;

// By name: "fifo" (all that waits, padded up), "delay:MS" (the same after the
// oldest has waited), "tfcost" (pad up or batch down, whichever costs less a
// request), "earliest" (what the oldest one's deadline allows), "nexus"
// (sliding window with early drop), "v3" (the server's own Decide).
// INVALID_ARGUMENT for anything else.
absl::StatusOr<Policy> PolicyByName(const std::string& name);

}  // namespace reprise::bench
