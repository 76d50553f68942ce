#include "tests/bench/simulator/arrivals.h"

#include <cstddef>
#include <random>

namespace reprise::bench {
namespace {

using Random = std::mt19937_64;

std::vector<absl::Duration> GammaGaps(double cv, double rate, int count,
                                      Random& random) {
  std::gamma_distribution<double> gap(1 / (cv * cv), cv * cv / rate);
  std::vector<absl::Duration> times;
  double at = 0;
  for (int i = 0; i < count; ++i) {
    at += gap(random);
    times.push_back(absl::Seconds(at));
  }
  return times;
}

std::vector<absl::Duration> Mmpp(double rate, int count, Random& random) {
  struct Phase {
    double factor;
    double mean_dwell;
  };
  constexpr Phase kPhases[] = {{2.8, 0.050}, {0.4, 0.150}};
  std::exponential_distribution<double> unit(1.0);
  std::vector<absl::Duration> times;
  double at = 0;
  size_t phase = 1;
  double phase_end = unit(random) * kPhases[phase].mean_dwell;
  while (times.size() < static_cast<size_t>(count)) {
    const double next = at + unit(random) / (rate * kPhases[phase].factor);
    if (next < phase_end) {
      at = next;
      times.push_back(absl::Seconds(at));
      continue;
    }
    at = phase_end;  // without memory, so the gap may be drawn anew
    phase = 1 - phase;
    phase_end = at + unit(random) * kPhases[phase].mean_dwell;
  }
  return times;
}

}  // namespace

const char* ProcessName(Process process) {
  switch (process) {
    case Process::kPoisson:
      return "Poisson";
    case Process::kGammaCv2:
      return "Gamma CV2";
    case Process::kGammaCv4:
      return "Gamma CV4";
    case Process::kMmpp:
      return "MMPP";
  }
  return "unknown";
}

std::vector<absl::Duration> Arrivals(Process process, double rate, int count,
                                     uint64_t seed) {
  Random random(seed);
  switch (process) {
    case Process::kPoisson:
      return GammaGaps(1, rate, count, random);
    case Process::kGammaCv2:
      return GammaGaps(2, rate, count, random);
    case Process::kGammaCv4:
      return GammaGaps(4, rate, count, random);
    case Process::kMmpp:
      return Mmpp(rate, count, random);
  }
  return {};
}

}  // namespace reprise::bench
