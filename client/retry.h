// Whether a failed call is worth another attempt, and when.
#pragma once

#include <map>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpcpp/support/string_ref.h"

namespace reprise::client {

struct RetryPolicy {
  int max_attempts = 3;  // the first one included; 1: never retry
  absl::Duration initial_backoff = absl::Milliseconds(100);  // doubles
  absl::Duration max_wait = absl::Seconds(5);  // a longer pushback: give up
};

// What the server said in the trailer grpc-retry-pushback-ms.
struct Pushback {
  bool given = false;
  absl::Duration wait;  // negative, or not a number: do not retry
};
Pushback ReadPushback(
    const std::multimap<grpc::string_ref, grpc::string_ref>& trailers);

// The time to wait before the next attempt after `attempt` (1, 2, ...) failed,
// or nothing. UNAVAILABLE is retried with backoff or after the server's
// pushback, RESOURCE_EXHAUSTED only with a pushback, nothing else ever.
std::optional<absl::Duration> NextAttempt(const RetryPolicy& policy,
                                          int attempt, absl::StatusCode code,
                                          const Pushback& pushback);

}  // namespace reprise::client
