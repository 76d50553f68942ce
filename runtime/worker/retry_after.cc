#include "runtime/worker/retry_after.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace reprise {
namespace {

constexpr char kPayload[] = "reprise/retry-after-us";

}  // namespace

absl::Status WithRetryAfter(absl::Status status, absl::Duration after) {
  after = std::clamp<absl::Duration>(after, absl::Milliseconds(1),
                                     absl::Minutes(1));
  status.SetPayload(kPayload,
                    absl::Cord(absl::StrCat(absl::ToInt64Microseconds(after))));
  return status;
}

absl::Duration RetryAfter(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayload);
  int64_t us = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &us)) {
    return absl::ZeroDuration();
  }
  return absl::Microseconds(us);
}

}  // namespace reprise
