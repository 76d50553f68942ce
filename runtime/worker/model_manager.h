// Which models are served: repository, control modes, loads, unloads, routing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "prometheus/registry.h"
#include "runtime/base/clock.h"
#include "runtime/batch/infer_task.h"
#include "runtime/model/registry.h"
#include "runtime/worker/device_worker.h"
#include "runtime/worker/manager_options.h"

namespace reprise {

// What RepositoryModelLoad may bring along.
struct LoadOverrides {
  std::optional<std::string> config_json;
  std::map<std::string, std::string> files;  // "1/model.onnx" -> content
};

// How a manager's work ended.
struct StopResult {
  bool all_answered = true;  // nothing accepted was given up
  bool loads_ended = true;   // no load or unload is under way any more
};

// Threads: any. Load and Unload block (a load takes seconds): never call them
// from a thread that polls gRPC. Everything else returns at once.
class ModelManager {
 public:
  // `workers` (at least one), `registry`, `clock` and `metrics` must outlive
  // the manager. INVALID_ARGUMENT lists every fault of the options at once.
  static absl::StatusOr<std::unique_ptr<ModelManager>> Create(
      ModelManagerOptions options, std::vector<DeviceWorker*> workers,
      ModelRegistry& registry, Clock& clock, prometheus::Registry& metrics);

  virtual ~ModelManager() = default;

  // Loads what the mode asks for, and in poll mode starts to watch. Returns
  // when each of these models is ready or has failed; OK if all are ready, else
  // the failures, one a line, each logged already. The server serves in any
  // case.
  virtual absl::Status LoadAtStart() = 0;

  // Loads or reloads all versions that the model's policy asks for, beside the
  // serving ones, and swaps. UNAVAILABLE outside explicit mode, or when
  // stopping; INVALID_ARGUMENT for a name or a file's path that is not valid;
  // RESOURCE_EXHAUSTED when it does not fit; INTERNAL when it cannot be loaded
  // for any other reason, a bad `config` included: the old versions keep
  // serving. Files replace the repository's, and need a `config`.
  virtual absl::Status Load(absl::string_view name,
                            const LoadOverrides& overrides) = 0;

  // UNAVAILABLE outside explicit mode; INVALID_ARGUMENT as Load. Returns when
  // the versions are withdrawn and drained.
  virtual absl::Status Unload(absl::string_view name) = 0;

  // Whether all required models are ready and no worker is stuck.
  virtual bool Ready() const = 0;

  // What RepositoryIndex lists: the registry's entries and, in explicit mode,
  // the models of the repository that were never loaded, in state kUnknown (the
  // wire leaves the state of those empty). Reads the repository's top folder.
  virtual std::vector<IndexEntry> Index() const = 0;

  // Hands `task` to a worker that serves `model`; see DeviceWorker::Offer.
  virtual absl::Status Offer(const ModelVersion& model, InferTask& task) = 0;
  virtual void Cancel(const ModelVersion& model, InferTask& task) = 0;

  // No more loads or polls; then the workers are stopped (DeviceWorker::Stop).
  // Waits for them and for the loads under way, until `deadline`. The manager
  // may be destroyed when LoadAtStart, Load and Unload have returned.
  virtual StopResult Stop(absl::Time deadline) = 0;
};

}  // namespace reprise
