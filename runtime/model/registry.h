// Name and version -> what serves them now.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
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
class ModelRegistry {
 private:
  struct Listener {
    std::function<void()> call;
    int running = 0;  // calls of it; guarded by the registry's mutex
  };
  using Listeners = std::list<Listener>;

 public:
  // A listener, for as long as this lives. Its end waits for calls of the
  // listener that are under way, so it may not come from one. The registry must
  // outlive it.
  class [[nodiscard]] Subscription {
   public:
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;
    ~Subscription() { registry_.Unsubscribe(listener_); }

   private:
    friend class ModelRegistry;
    Subscription(ModelRegistry& registry, Listeners::iterator listener)
        : registry_(registry), listener_(listener) {}

    ModelRegistry& registry_;
    const Listeners::iterator listener_;
  };

  // The handle of a ready version; `version` "" means the highest ready one.
  // INVALID_ARGUMENT: `version` is neither empty nor a decimal number >= 1
  // without leading zeros. NOT_FOUND: unknown model or version, or "" and no
  // version is ready. UNAVAILABLE: the version is known but not ready, or the
  // model is expected.
  absl::StatusOr<ModelHandle> Acquire(absl::string_view name,
                                      absl::string_view version) const
      ABSL_LOCKS_EXCLUDED(mu_);

  // Every ready version of every model, or of `name` if it is not empty.
  // NOT_FOUND as Acquire.
  absl::StatusOr<std::vector<ModelHandle>> List(absl::string_view name,
                                                absl::string_view version) const
      ABSL_LOCKS_EXCLUDED(mu_);

  std::vector<IndexEntry> Index() const ABSL_LOCKS_EXCLUDED(mu_);

  // A model that is about to be loaded is known from now on: LOADING as a
  // whole, unless versions of it are known already.
  void Expect(absl::string_view name) ABSL_LOCKS_EXCLUDED(mu_);

  // Makes `handle` what its name and version stand for, in state kReady; the
  // version that it replaces drains as its handles go.
  void Publish(ModelHandle handle) ABSL_LOCKS_EXCLUDED(mu_);

  // Records a state change of a version (0: of the model as a whole, which
  // holds until one of a version is recorded). A move away from kReady
  // withdraws the handle.
  void SetState(absl::string_view name, int64_t version, VersionState state,
                absl::string_view reason) ABSL_LOCKS_EXCLUDED(mu_);

  // Forgets a version, or the whole model with version 0.
  void Remove(absl::string_view name, int64_t version) ABSL_LOCKS_EXCLUDED(mu_);

  // Calls `listener` after every change, without a lock held, on the thread
  // that made it, for as long as the subscription lives.
  Subscription AddListener(std::function<void()> listener)
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Version {
    VersionState state = VersionState::kUnavailable;
    std::string reason;
    ModelHandle handle;  // set exactly when the state is kReady
  };
  using Versions = std::map<int64_t, Version>;

  static bool IsLoading(const Versions& versions);
  void Notify() ABSL_LOCKS_EXCLUDED(mu_);
  void Unsubscribe(Listeners::iterator listener) ABSL_LOCKS_EXCLUDED(mu_);

  mutable absl::Mutex mu_;
  absl::flat_hash_map<std::string, Versions> models_ ABSL_GUARDED_BY(mu_);
  Listeners listeners_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reprise
