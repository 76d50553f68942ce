#include "client/bench/schedule.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace reprise::client {

absl::StatusOr<Distribution> ParseDistribution(absl::string_view text) {
  if (text == "constant") return Distribution::kConstant;
  if (text == "poisson") return Distribution::kPoisson;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is neither constant nor poisson"));
}

Schedule::Schedule(double rate, Distribution distribution, uint64_t seed)
    : mean_ns_(1e9 / rate),
      distribution_(distribution),
      random_(seed),
      gap_(1.0) {
  if (distribution_ == Distribution::kPoisson) Pop();
}

void Schedule::Pop() {
  exact_ns_ += distribution_ == Distribution::kPoisson
                   ? mean_ns_ * gap_(random_)
                   : mean_ns_;
  due_ = std::chrono::nanoseconds(static_cast<int64_t>(exact_ns_));
}

}  // namespace reprise::client
