// The thread that prepares variants which requests ask for, beside serving.
#pragma once

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "runtime/base/clock.h"
#include "runtime/base/thread.h"
#include "runtime/worker/served.h"
#include "runtime/worker/variant_table.h"
#include "runtime/worker/worker_metrics.h"

namespace reprise {

// Knows how variants are made; what is made, and what becomes of it, is its
// owner's.
//
// Lifecycle: Start, then Request whenever there may be something to make; Stop
// while the owner and the device still exist.
// Threads: any but the owner's calls, which come on the builder's thread, with
// no lock held.
class VariantBuilder {
 public:
  struct Job {
    Variant* variant = nullptr;  // null: there is nothing to make
    BuildPlan plan;
  };

  class Owner {
   public:
    virtual ~Owner() = default;
    // Asked again until there is nothing. May block, until there is memory.
    virtual Job NextBuild() = 0;
    // How it ended; `made` is what was prepared, of a failure perhaps a part.
    virtual void Built(const Job& job, const absl::Status& status,
                       Prepared made) = 0;
  };

  // All three must outlive it.
  VariantBuilder(Owner& owner, WorkerMetrics& metrics, Clock& clock);
  ~VariantBuilder() { Stop(); }

  void Start();
  // The owner is asked soon. Does not wait.
  void Request() ABSL_LOCKS_EXCLUDED(mu_);
  // Returns when the job under way is done.
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mu_);
  bool stopping() const ABSL_LOCKS_EXCLUDED(mu_);
  void Build(const Job& job);
  absl::Status Prepare(const Job& job, Prepared& made);

  Owner& owner_;
  WorkerMetrics& metrics_;
  Clock& clock_;

  mutable absl::Mutex mu_;
  bool wanted_ ABSL_GUARDED_BY(mu_) = false;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;

  Thread thread_;
};

}  // namespace reprise
