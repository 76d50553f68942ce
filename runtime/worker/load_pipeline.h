// An imported version put on its workers, warmed up, not yet published.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/base/clock.h"
#include "runtime/model/loader.h"
#include "runtime/model/model_version.h"
#include "runtime/model/repository.h"
#include "runtime/worker/device_worker.h"
#include "runtime/worker/model_manager.h"
#include "runtime/worker/model_reaper.h"

namespace reprise {

// What the manager's options say to the loader; `gpus`: whether the devices
// are GPUs.
LoaderOptions MakeLoaderOptions(const ModelManagerOptions& options, bool gpus);

// The models of the repositories, or the one of --model-path.
absl::StatusOr<RepositoryScan> ScanModels(const ModelManagerOptions& options);

// Whether a model with this configuration is served by `worker`: its device is
// one that instance_group.gpus names, or it names none, or it is no GPU.
bool IsPlacedOn(const ModelConfig& config, DeviceWorker& worker);

// Those of `workers` that a model is placed on. Never empty: INVALID_ARGUMENT
// if none of the named devices exists.
absl::StatusOr<std::vector<DeviceWorker*>> PlaceModel(
    const ModelConfig& config, const std::vector<DeviceWorker*>& workers);

struct LoadedVersion {
  ModelHandle handle;
  std::string prepared;  // for the log: its ladder, or how many variants
};

// Loads and prepares `imported` on the devices of `workers`, adds it to them
// and runs its warm-up requests. The handle is the only one: dropping it
// unloads the version again. Errors as PrepareVersion, or a warm-up's own with
// its name in front; then nothing is left on any worker.
//
// Threads: a loader's; blocks for as long as the devices take.
absl::StatusOr<LoadedVersion> ServeVersion(
    ImportedVersion imported, uint64_t uid,
    const std::vector<DeviceWorker*>& workers, ModelReaper& reaper,
    Clock& clock);

}  // namespace reprise
