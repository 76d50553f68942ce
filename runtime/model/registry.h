// Name and version -> what serves them now.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "runtime/model/lifecycle.h"
#include "runtime/model/model_version.h"

namespace reprise {

// One line of RepositoryIndex. `version` is empty for a model none of whose
// versions is known.
struct IndexEntry {
  std::string name;
  std::string version;
  VersionState state = VersionState::kUnavailable;
  std::string reason;  // why it is not ready; "unloaded" after an unload
};

// Threads: any. Acquire is on the path of every request: one short lock.
class Registry {
 public:
  // The handle of a ready version; `version` "" means the highest ready one.
  // INVALID_ARGUMENT: `version` is neither empty nor a decimal number >= 1
  // without leading zeros. NOT_FOUND: unknown model or version, or "" and no
  // version is ready. UNAVAILABLE: the version is known but not ready.
  absl::StatusOr<ModelHandle> Acquire(absl::string_view name,
                                      absl::string_view version) const
      ABSL_LOCKS_EXCLUDED(mu_);

  // Every ready version of every model, or of `name` if it is not empty.
  // NOT_FOUND as Acquire.
  absl::StatusOr<std::vector<ModelHandle>> List(absl::string_view name,
                                                absl::string_view version) const
      ABSL_LOCKS_EXCLUDED(mu_);

  std::vector<IndexEntry> Index() const ABSL_LOCKS_EXCLUDED(mu_);

  // Makes `handle` what its name and version stand for, in state kReady; the
  // version that it replaces drains as its handles go.
  void Publish(ModelHandle handle) ABSL_LOCKS_EXCLUDED(mu_);

  // Records a state change of a version (0: of the model as a whole). A move
  // away from kReady withdraws the handle.
  void SetState(absl::string_view name, int64_t version, VersionState state,
                absl::string_view reason) ABSL_LOCKS_EXCLUDED(mu_);

  // Forgets a version, or the whole model with version 0.
  void Remove(absl::string_view name, int64_t version) ABSL_LOCKS_EXCLUDED(mu_);

  // Called after every change, without a lock held, on the thread that made
  // it. Listeners are added before the first change and never removed.
  void AddListener(std::function<void()> listener) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Version {
    VersionState state = VersionState::kUnavailable;
    std::string reason;
    ModelHandle handle;  // set exactly when the state is kReady
  };
  using Versions = std::map<int64_t, Version>;

  void Notify() const ABSL_LOCKS_EXCLUDED(mu_);

  mutable absl::Mutex mu_;
  absl::flat_hash_map<std::string, Versions> models_ ABSL_GUARDED_BY(mu_);
  std::vector<std::function<void()>> listeners_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reprise
