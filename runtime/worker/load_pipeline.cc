#include "runtime/worker/load_pipeline.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/device/fault.h"
#include "runtime/device/load_steps.h"
#include "runtime/tensor/ladder.h"
#include "runtime/worker/served.h"

namespace reprise {
namespace {

// A request that nobody sent.
class WarmupTask final : public InferTask {
 public:
  WarmupTask(const WarmupRequest& request, Clock& clock) : clock_(clock) {
    rows = request.rows;
    warmup = true;
    variant = request.variant;
    arrival = clock.Now();
    for (const HostTensor& input : request.inputs) {
      InputRows piece;
      piece.bytes = static_cast<int64_t>(input.bytes().size());
      piece.pieces.push_back(input.bytes());
      bytes += piece.bytes;
      inputs.push_back(std::move(piece));
    }
  }

  void Complete(TaskResult result) override ABSL_LOCKS_EXCLUDED(mu_) {
    result.output.Reset();
    absl::MutexLock lock(&mu_);
    status_ = std::move(result.status);
    done_ = true;
  }

  // The worker answers whatever it accepted: there is no limit to set here.
  absl::Status Await() ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    clock_.Await(mu_, absl::Condition(&done_), absl::InfiniteFuture());
    return status_;
  }

 private:
  Clock& clock_;
  absl::Mutex mu_;
  bool done_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
};

absl::Status WarmUp(const std::vector<WarmupRequest>& requests, uint64_t uid,
                    DeviceWorker& worker, Clock& clock) {
  for (const WarmupRequest& request : requests) {
    for (int i = 0; i < request.count; ++i) {
      WarmupTask task(request, clock);
      absl::Status status = worker.Offer(uid, task);
      if (status.ok()) status = task.Await();
      if (!status.ok()) {
        return Annotate(status,
                        absl::StrCat("model_warmup '", request.name, "'"));
      }
    }
  }
  return absl::OkStatus();
}

// A model with free dims has a ladder for each variant: they have lines of
// their own.
std::string PreparedText(const ImportedVersion& imported,
                         const PreparedVersion& prepared) {
  const std::vector<int>& asked = imported.config.ladder;
  if (imported.signature.free_symbols.empty()) {
    return LadderText(asked, prepared.variants[0].lanes[0]->ladder());
  }
  for (const PreparedVersion::Variant& variant : prepared.variants) {
    LogInfo(absl::StrCat(
        "variant made model=", LogName(imported.name),
        " dims=", LogName(VariantText(imported.signature, variant.key)), " ",
        LadderText(asked, variant.lanes[0]->ladder())));
  }
  return absl::StrCat("variants=", prepared.variants.size());
}

void LogSteps(const ImportedVersion& imported, const Device& device,
              const LoadStepRecord& steps) {
  const std::string text = steps.text();
  if (text.empty()) return;
  LogInfo(absl::StrCat("load steps model=", LogName(imported.text()),
                       " device=", device.gpu_index().value_or(0), " ", text));
}

}  // namespace

LoaderOptions MakeLoaderOptions(const ModelManagerOptions& options, bool gpus) {
  LoaderOptions loader;
  loader.default_max_batch_size = options.default_max_batch_size;
  loader.strict_config = options.strict_config;
  loader.config_name = options.config_name;
  loader.max_message_bytes = options.max_message_bytes;
  loader.bounds.max_queue_requests = options.max_queue_requests;
  loader.bounds.max_queue_bytes = options.max_queue_bytes;
  loader.gpus = gpus;
  return loader;
}

absl::StatusOr<RepositoryScan> ScanModels(const ModelManagerOptions& options) {
  if (options.model_path.empty()) {
    return ScanRepositories(options.repositories);
  }
  REPRISE_ASSIGN_OR_RETURN(
      ModelSource source,
      FindSingleModel(options.model_path, options.model_name));
  RepositoryScan scan;
  scan.models.emplace(options.model_name, std::move(source));
  return scan;
}

bool IsPlacedOn(const ModelConfig& config, DeviceWorker& worker) {
  if (config.devices.empty()) return true;
  const std::optional<int> gpu = worker.device().gpu_index();
  return !gpu.has_value() ||
         std::find(config.devices.begin(), config.devices.end(), *gpu) !=
             config.devices.end();
}

absl::StatusOr<std::vector<DeviceWorker*>> PlaceModel(
    const ModelConfig& config, const std::vector<DeviceWorker*>& workers) {
  std::vector<DeviceWorker*> placed;
  for (DeviceWorker* worker : workers) {
    if (IsPlacedOn(config, *worker)) placed.push_back(worker);
  }
  if (placed.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "instance_group.gpus names ", absl::StrJoin(config.devices, ", "),
        ", none of which this server uses"));
  }
  return placed;
}

absl::StatusOr<LoadedVersion> ServeVersion(
    ImportedVersion imported, uint64_t uid,
    const std::vector<DeviceWorker*>& workers, ModelReaper& reaper,
    Clock& clock) {
  REPRISE_ASSIGN_OR_RETURN(const std::vector<DeviceWorker*> placed,
                           PlaceModel(imported.config, workers));
  std::vector<PreparedVersion> prepared;
  for (DeviceWorker* worker : placed) {
    const LoadStepRecord steps(worker->device().load_steps());
    absl::StatusOr<PreparedVersion> one =
        PrepareVersion(imported, worker->device());
    LogSteps(imported, worker->device(), steps);
    if (IsDeviceFault(one.status())) worker->Lose(one.status());
    REPRISE_RETURN_IF_ERROR(one.status());
    prepared.push_back(*std::move(one));
  }
  std::string text = PreparedText(imported, prepared.front());
  const std::vector<WarmupRequest> warmup = std::move(imported.warmup);
  auto version = std::make_unique<const ModelVersion>(
      uid, std::move(imported.name), imported.version,
      std::move(imported.config), std::move(imported.signature));
  for (size_t i = 0; i < placed.size(); ++i) {
    ServedModel served;
    served.model = version.get();
    served.loaded = std::move(prepared[i].loaded);
    for (PreparedVersion::Variant& variant : prepared[i].variants) {
      served.variants.push_back({variant.key, std::move(variant.lanes)});
    }
    placed[i]->Add(std::move(served));
  }
  ModelHandle handle = reaper.Adopt(std::move(version), placed);
  for (DeviceWorker* worker : placed) {
    REPRISE_RETURN_IF_ERROR(WarmUp(warmup, uid, *worker, clock));
  }
  return LoadedVersion{std::move(handle), std::move(text)};
}

}  // namespace reprise
