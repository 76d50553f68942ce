// When requests arrive: the processes of an open-loop load.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/time/time.h"

namespace reprise::bench {

enum class Process {
  kPoisson,
  kGammaCv2,  // Gamma gaps with a coefficient of variation of 2
  kGammaCv4,
  kMmpp,  // 50 ms at 2.8 times the rate, 150 ms at 0.4 times, on average
};
const char* ProcessName(Process process);

// `count` instants, ascending, `rate` a second on average. The same arguments
// give the same instants.
std::vector<absl::Duration> Arrivals(Process process, double rate, int count,
                                     uint64_t seed);

}  // namespace reprise::bench
