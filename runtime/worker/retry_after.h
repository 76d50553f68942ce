// The retry hint that RESOURCE_EXHAUSTED carries; RetryAfter reads it.
#pragma once

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace reprise {

// `status` with the hint attached; at least a millisecond, at most a minute.
absl::Status WithRetryAfter(absl::Status status, absl::Duration after);

}  // namespace reprise
