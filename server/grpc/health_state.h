// What the health service, ServerReady and the probes say.
#pragma once

#include <atomic>
#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "runtime/model/registry.h"
#include "runtime/worker/model_manager.h"

namespace reprise {

enum class Serving { kServing, kNotServing, kUnknownService };

// Threads: any; nothing here waits.
class HealthState {
 public:
  // Both must outlive this.
  HealthState(const ModelRegistry& registry, const ModelManager& manager)
      : registry_(registry), manager_(manager) {}

  // All required models are ready, the server is not draining, and no device is
  // lost.
  bool Ready() const { return !draining_ && !lost_ && manager_.Ready(); }

  // From now on the server is not ready; its models may be.
  void StartDraining() { draining_ = true; }

  // A device is lost: nothing serves any more, and the process is to be
  // restarted.
  void SetLost() { lost_ = true; }
  bool lost() const { return lost_; }

  // "" and "liveness": the process can answer, and no device is lost.
  // "readiness" and the inference service: Ready. The name of a model: whether
  // it has a ready version.
  Serving Of(absl::string_view service) const;

  // All that Of knows.
  std::set<std::string> Services() const;

  // Whether the registry or the repository has a model of this name.
  bool IsKnownModel(absl::string_view name) const;

 private:
  const ModelRegistry& registry_;
  const ModelManager& manager_;
  std::atomic<bool> draining_{false};
  std::atomic<bool> lost_{false};
};

}  // namespace reprise
