// Unloads versions whose last handle has gone, on a thread made for it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "runtime/base/thread.h"
#include "runtime/model/model_version.h"
#include "runtime/worker/device_worker.h"

namespace reprise {

// The last handle of a version may go on any thread: one that polls gRPC, or a
// worker's own. None of them may wait for DeviceWorker::Remove, so the version
// is handed to the reaper's thread, which removes it from its workers and
// destroys it.
//
// Lifecycle: Adopt versions; Stop while the workers still exist. Handles that
// go later only destroy their version.
// Threads: any.
// Owns: its thread; the versions from the moment that their last handle goes.
class ModelReaper {
 public:
  // `gone` is called on the reaper's thread, without a lock, after a version
  // has left its workers, and before AwaitGone returns.
  explicit ModelReaper(std::function<void(const ModelVersion&)> gone);
  ~ModelReaper() { Stop(); }

  // A handle to `version`, which `workers` serve by now.
  ModelHandle Adopt(std::unique_ptr<const ModelVersion> version,
                    std::vector<DeviceWorker*> workers)
      ABSL_LOCKS_EXCLUDED(state_->mu);

  // Blocks until no worker serves the version any more: until its last handle
  // has gone, and the batches that ran it are done.
  void AwaitGone(uint64_t uid) ABSL_LOCKS_EXCLUDED(state_->mu);

  // Removes what has been handed over so far, then ends the thread.
  void Stop() ABSL_LOCKS_EXCLUDED(state_->mu);

 private:
  struct Retired {
    std::unique_ptr<const ModelVersion> version;
    std::vector<DeviceWorker*> workers;
  };
  // Shared with the handles, which may outlive the reaper.
  struct State {
    absl::Mutex mu;
    std::deque<Retired> retired ABSL_GUARDED_BY(mu);
    std::set<uint64_t> alive ABSL_GUARDED_BY(mu);  // by uid
    bool stopped ABSL_GUARDED_BY(mu) = false;

    void Enqueue(Retired one) ABSL_LOCKS_EXCLUDED(mu);
    bool Due() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
      return stopped || !retired.empty();
    }
  };

  void Run() ABSL_LOCKS_EXCLUDED(state_->mu);

  const std::function<void(const ModelVersion&)> gone_;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
  Thread thread_;
};

}  // namespace reprise
