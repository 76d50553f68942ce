#include "runtime/worker/model_reaper.h"

#include <utility>

namespace reprise {

ModelReaper::ModelReaper(std::function<void(const ModelVersion&)> gone)
    : gone_(std::move(gone)), thread_("model-reaper", [this] { Run(); }) {}

ModelHandle ModelReaper::Adopt(std::unique_ptr<const ModelVersion> version,
                               std::vector<DeviceWorker*> workers) {
  {
    absl::MutexLock lock(&state_->mu);
    state_->alive.insert(version->uid());
  }
  const ModelVersion* const raw = version.release();
  return ModelHandle(
      raw, [state = state_, on = std::move(workers)](const ModelVersion* last) {
        state->Enqueue({std::unique_ptr<const ModelVersion>(last), on});
      });
}

void ModelReaper::AwaitGone(uint64_t uid) {
  State& state = *state_;
  absl::MutexLock lock(&state.mu);
  const auto gone = [&state, uid] {
    state.mu.AssertReaderHeld();
    return state.stopped || !state.alive.contains(uid);
  };
  state.mu.Await(absl::Condition(&gone));
}

void ModelReaper::Stop() {
  {
    absl::MutexLock lock(&state_->mu);
    state_->stopped = true;
  }
  thread_.Join();
}

void ModelReaper::State::Enqueue(Retired one) {
  absl::MutexLock lock(&mu);
  if (stopped) {  // the workers may be gone: the version dies with `one`
    alive.erase(one.version->uid());
    return;
  }
  retired.push_back(std::move(one));
}

void ModelReaper::Run() {
  State& state = *state_;
  while (true) {
    Retired next;
    {
      absl::MutexLock lock(&state.mu);
      state.mu.Await(absl::Condition(&state, &State::Due));
      if (state.retired.empty()) return;
      next = std::move(state.retired.front());
      state.retired.pop_front();
    }
    const uint64_t uid = next.version->uid();
    for (DeviceWorker* worker : next.workers) worker->Remove(uid);
    gone_(*next.version);
    next.version.reset();
    absl::MutexLock lock(&state.mu);
    state.alive.erase(uid);
  }
}

}  // namespace reprise
