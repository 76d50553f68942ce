#include "runtime/worker/router.h"

#include <cstddef>
#include <tuple>

namespace reprise {
namespace {

// What can compute before what cannot, then what has the least to do.
auto Rank(const WorkerLoad& load) {
  return std::tuple(load.lost, load.stuck, load.outstanding);
}

}  // namespace

int ChooseWorker(std::span<const WorkerLoad> loads, int last) {
  const int count = static_cast<int>(loads.size());
  int best = -1;
  for (int step = 1; step <= count; ++step) {
    const int candidate = (last + step) % count;
    const WorkerLoad& load = loads[static_cast<size_t>(candidate)];
    if (best < 0) {
      best = candidate;
      continue;
    }
    const WorkerLoad& least = loads[static_cast<size_t>(best)];
    if (Rank(load) < Rank(least)) best = candidate;
  }
  return best;
}

}  // namespace reprise
