#include "runtime/plan/liveness.h"

namespace reprise::plan {

std::vector<Life> Lives(const Plan& plan) {
  std::vector<Life> lives(plan.buffers.size());
  const auto touch = [&](BufferId id, int step) {
    if (id == kNoBuffer) return;
    Life& life = lives[Root(plan, id)];
    if (life.first < 0) life.first = step;
    life.last = step;
  };
  for (int i = 0; i < static_cast<int>(plan.steps.size()); ++i) {
    for (const BufferId id : plan.steps[i].reads) touch(id, i);
    for (const BufferId id : plan.steps[i].writes) touch(id, i);
  }
  for (BufferId id = 0; id < static_cast<BufferId>(lives.size()); ++id) {
    lives[id] = lives[Root(plan, id)];
  }
  return lives;
}

}  // namespace reprise::plan
