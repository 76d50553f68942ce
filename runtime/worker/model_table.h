// What is served of each model, and how one set of versions replaces another.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "prometheus/registry.h"
#include "runtime/model/registry.h"
#include "runtime/worker/model_manager_metrics.h"
#include "runtime/worker/model_reaper.h"

namespace reprise {

// How the load of one version ended.
struct LoadOutcome {
  int64_t version = 0;
  absl::StatusOr<ModelHandle> handle = absl::UnknownError("not loaded");
  absl::Duration time;
  std::string prepared = {};  // as LoadedVersion has it
};

// The only writer of the registry: every change of state is published, counted
// and logged here.
//
// Lifecycle: one change of a model at a time, between BeginChange and
// EndChange; Stop while the workers still exist.
// Threads: any.
class ModelTable {
 public:
  // Both must outlive the table.
  ModelTable(ModelRegistry& registry, prometheus::Registry& metrics);
  ~ModelTable() { Stop(); }

  // Waits for its turn. UNAVAILABLE after Close: then no EndChange is due.
  absl::Status BeginChange(const std::string& name) ABSL_LOCKS_EXCLUDED(mu_);
  void EndChange(const std::string& name) ABSL_LOCKS_EXCLUDED(mu_);

  // A load is due, and may have to wait for others: the model is known from now
  // on.
  void Expect(const std::string& name) { registry_.Expect(name); }

  // A version that is not served yet is LOADING from now on; one that is stays
  // READY.
  void Loading(const std::string& name, int64_t version)
      ABSL_LOCKS_EXCLUDED(mu_);

  // Ends a load. Where nothing of the model is served, every version that
  // loaded is published and the others are UNAVAILABLE with their reason. Where
  // something is, it is all or nothing: one failure, and the old versions keep
  // serving; else the new ones replace them, and versions that are not among
  // the outcomes are unloaded. Returns the failures, with their versions.
  absl::Status Settle(const std::string& name,
                      std::vector<LoadOutcome> outcomes)
      ABSL_LOCKS_EXCLUDED(mu_);

  // The model could not even be looked at: `why` is its state's reason, unless
  // something of it is served, which goes on.
  void Failed(const std::string& name, const absl::Status& why)
      ABSL_LOCKS_EXCLUDED(mu_);

  // Folders that are no models because of their names: each is logged once.
  // Not for two threads at a time.
  void Misnamed(std::set<std::string> folders);

  // Withdraws every version. What never loaded is forgotten.
  void Withdraw(const std::string& name) ABSL_LOCKS_EXCLUDED(mu_);
  // And returns when all have drained and left their workers.
  void WithdrawAndWait(const std::string& name) ABSL_LOCKS_EXCLUDED(mu_);

  // Readiness. A required model is expected, and counts until it has loaded
  // once or has been withdrawn.
  void Require(const std::string& name) ABSL_LOCKS_EXCLUDED(mu_);
  bool AllRequiredLoaded() const ABSL_LOCKS_EXCLUDED(mu_);

  // What the last load of a model saw of its files; "" without one.
  std::string fingerprint(const std::string& name) const
      ABSL_LOCKS_EXCLUDED(mu_);
  void SetFingerprint(const std::string& name, std::string fingerprint)
      ABSL_LOCKS_EXCLUDED(mu_);
  // The models that have one.
  std::vector<std::string> Watched() const ABSL_LOCKS_EXCLUDED(mu_);

  // No further change begins; those that wait for their turn fail.
  void Close() ABSL_LOCKS_EXCLUDED(mu_);
  // Waits until no change is under way. Returns whether that is so in time.
  bool AwaitIdle(Clock& clock, absl::Time deadline) ABSL_LOCKS_EXCLUDED(mu_);
  // Withdraws everything, and unloads what nobody holds.
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);

  ModelReaper& reaper() { return reaper_; }

 private:
  struct Model {
    std::map<int64_t, uint64_t> serving;  // version -> uid
    std::string fingerprint;
    bool required = false;
    bool loaded_once = false;
    bool changing = false;
  };

  void Publish(const std::string& name, LoadOutcome& outcome)
      ABSL_LOCKS_EXCLUDED(mu_);
  void Refuse(const std::string& name, int64_t version, absl::string_view why)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Returns what was served until now.
  std::map<int64_t, uint64_t> WithdrawServed(const std::string& name)
      ABSL_LOCKS_EXCLUDED(mu_);
  void ForgetFailures(const std::string& name);
  void WithdrawVersion(const std::string& name, int64_t version, uint64_t uid)
      ABSL_LOCKS_EXCLUDED(mu_);
  void Gone(const ModelVersion& version) ABSL_LOCKS_EXCLUDED(mu_);
  std::map<int64_t, uint64_t> Serving(const std::string& name) const
      ABSL_LOCKS_EXCLUDED(mu_);

  ModelRegistry& registry_;
  ModelManagerMetrics metrics_;
  std::set<std::string> misnamed_;  // of the last call of Misnamed

  mutable absl::Mutex mu_;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  std::map<std::string, Model> models_ ABSL_GUARDED_BY(mu_);
  // Withdrawn versions that still have handles, by uid: their state ends as
  // UNAVAILABLE when they have gone.
  std::map<uint64_t, std::pair<std::string, int64_t>> draining_
      ABSL_GUARDED_BY(mu_);

  ModelReaper reaper_;  // last: its thread calls Gone
};

}  // namespace reprise
