// The retry hint that RESOURCE_EXHAUSTED carries, for `grpc-retry-pushback-ms`.
#pragma once

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace reprise {

// `status` with the hint attached; at least a millisecond, at most a minute.
absl::Status WithRetryAfter(absl::Status status, absl::Duration after);

// The hint; zero if `status` carries none.
absl::Duration RetryAfter(const absl::Status& status);

}  // namespace reprise
