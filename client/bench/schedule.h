// When the calls of an open loop are due.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace reprise::client {

enum class Distribution { kConstant, kPoisson };

// "constant" or "poisson"; INVALID_ARGUMENT, with the text, for anything else.
absl::StatusOr<Distribution> ParseDistribution(absl::string_view text);

// Instants counted from the start, ascending, the first at or after zero. The
// same seed gives the same instants. They do not depend on how fast anybody
// answers: that is what makes the loop open.
class Schedule {
 public:
  // `rate` is calls a second, above zero.
  Schedule(double rate, Distribution distribution, uint64_t seed);

  // The next call's instant, until Pop moves on.
  std::chrono::nanoseconds due() const { return due_; }
  void Pop();

 private:
  const double mean_ns_;
  const Distribution distribution_;
  std::mt19937_64 random_;
  std::exponential_distribution<double> gap_;
  double exact_ns_ = 0;
  std::chrono::nanoseconds due_{0};
};

}  // namespace reprise::client
