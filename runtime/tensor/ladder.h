// The batch sizes that are prepared for a model, with their times.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace reprise {

// One prepared batch size. Times are the device's own, zero until measured.
struct Rung {
  int rows = 1;
  absl::Duration p50;
  absl::Duration p999;
};

using Ladder = std::vector<Rung>;  // ascending by rows, never empty

// Powers of two and, from 12 on, the in-betweens 3*2^k, up to and including
// `max_batch`: 1 2 4 8 12 16 24 32. `max_batch` must be positive.
std::vector<int> DefaultLadder(int max_batch);

// `sizes` sorted, without duplicates, with 1 and `max_batch` added.
// INVALID_ARGUMENT if a size is not in [1, max_batch].
absl::StatusOr<std::vector<int>> ConfiguredLadder(std::vector<int> sizes,
                                                  int max_batch);

// Index of the smallest rung with room for `rows`; -1 if there is none.
int RungFor(const Ladder& ladder, int rows);

// For the log: ladder="1,2,4" dropped="8", the rungs that there are and those
// of `asked` that there are not.
std::string LadderText(const std::vector<int>& asked, const Ladder& prepared);

}  // namespace reprise
