// How long a device was busy: the union of what ran on its lanes.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/time/time.h"

namespace reprise {

// Time that was counted once is not counted again, whichever lane it came from,
// and in whatever order the runs are seen to end. What lies far back is
// remembered without its gaps: a run that took longer than many others counts
// too little then, never too much.
//
// Threads: one at a time.
class BusyTime {
 public:
  // How many stretches between gaps are remembered.
  static constexpr size_t kRemembered = 64;

  BusyTime() { stretches_.reserve(kRemembered + 1); }

  // A run from `begin` to `end`, on a time line that all lanes share. Returns
  // how much of that was not counted before.
  absl::Duration Add(absl::Duration begin, absl::Duration end);

 private:
  struct Stretch {
    absl::Duration begin;
    absl::Duration end;
  };

  std::vector<Stretch> stretches_;  // ascending; they do not touch
};

}  // namespace reprise
