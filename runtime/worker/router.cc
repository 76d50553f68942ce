#include "runtime/worker/router.h"

#include <cstddef>

namespace reprise {

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
    if (load.stuck != least.stuck ? least.stuck
                                  : load.outstanding < least.outstanding) {
      best = candidate;
    }
  }
  return best;
}

}  // namespace reprise
