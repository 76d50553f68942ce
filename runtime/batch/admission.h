// Whether a new request can be answered in time: a pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "absl/time/time.h"
#include "runtime/tensor/ladder.h"

namespace reprise {

// The queue that a request wants to join.
struct AdmissionView {
  std::span<const Rung> ladder;
  std::optional<absl::Duration> slo;
  int64_t rows_ahead = 0;      // that would run before it
  double arrival_rate = 0;     // rows per second
  absl::Duration device_busy;  // predicted rest of what runs now
};

enum class Admission {
  kAdmitted,
  kTooLate,     // not even alone: DEADLINE_EXCEEDED
  kOverloaded,  // not behind what waits, which grows: RESOURCE_EXHAUSTED
};

// Without an SLO nothing is refused by prediction.
Admission Admit(const AdmissionView& view, int rows, absl::Time deadline,
                absl::Time now);

// How long a request that joins now is expected to wait for its answer.
absl::Duration EstimatedWait(const AdmissionView& view);

}  // namespace reprise
