#include "client/retry.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"

namespace reprise::client {

Pushback ReadPushback(
    const std::multimap<grpc::string_ref, grpc::string_ref>& trailers) {
  const auto found = trailers.find("grpc-retry-pushback-ms");
  if (found == trailers.end()) return {};
  const absl::string_view text(found->second.data(), found->second.size());
  int64_t ms = 0;
  if (!absl::SimpleAtoi(text, &ms)) ms = -1;
  return {true, absl::Milliseconds(ms)};
}

std::optional<absl::Duration> NextAttempt(const RetryPolicy& policy,
                                          int attempt, absl::StatusCode code,
                                          const Pushback& pushback) {
  if (attempt >= policy.max_attempts) return std::nullopt;
  if (code != absl::StatusCode::kUnavailable &&
      code != absl::StatusCode::kResourceExhausted) {
    return std::nullopt;
  }
  if (pushback.given) {
    if (pushback.wait < absl::ZeroDuration()) return std::nullopt;
    if (pushback.wait > policy.max_wait) return std::nullopt;
    return pushback.wait;
  }
  if (code == absl::StatusCode::kResourceExhausted) return std::nullopt;
  absl::Duration wait = policy.initial_backoff;
  for (int i = 1; i < attempt && wait < policy.max_wait; ++i) wait *= 2;
  return std::min(wait, policy.max_wait);
}

}  // namespace reprise::client
