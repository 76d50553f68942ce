// One thread that owns one device and runs the batches of all its models.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "prometheus/registry.h"
#include "runtime/base/clock.h"
#include "runtime/batch/batch_config.h"
#include "runtime/batch/infer_task.h"
#include "runtime/device/device.h"
#include "runtime/model/model_version.h"

namespace reprise {

struct WorkerOptions {
  // Of its device; without, that is the CPU.
  std::optional<int> gpu_index = std::nullopt;
  // An execution that takes longer than max(this, 20 x p99.9 of its rung) marks
  // the worker as stuck (readiness ends). Infinite: no watchdog.
  absl::Duration watchdog = absl::Seconds(1);
  // The part of the device's time that steps of loaders may take while batches
  // come: in (0, 1].
  double load_share = 0.2;
  // Called once, when the device is lost, before anybody is told: `why` says
  // what happened. On any thread, without a lock; it does not wait.
  std::function<void(const absl::Status& why)> on_lost = nullptr;
};

// One model version as a worker serves it. `variants` holds, for each prepared
// variant, one executable a lane (instance_group.count of them).
struct ServedModel {
  struct Variant {
    VariantKey key;
    std::vector<std::unique_ptr<Executable>> lanes;
  };

  // Borrowed: stays alive until Remove has returned.
  const ModelVersion* model = nullptr;
  std::unique_ptr<LoadedModel> loaded;
  std::vector<Variant> variants;
};

// What a router sees of a worker.
struct WorkerLoad {
  absl::Duration outstanding;  // predicted time of all that waits and runs
  bool stuck = false;          // the watchdog has fired
  bool lost = false;           // the device is; nothing will be computed

  bool well() const { return !stuck && !lost; }
};

// Lifecycle: Create, Add models, Offer tasks, Remove models, Stop.
// Threads: every public method from any thread. Tasks are completed on the
// worker's thread, on the caller's (Offer, Cancel, Remove, Stop,
// CheckWatchdog), or on a loader's, never with a lock held.
//
// When the device is lost (a run or a step of a loader fails with an error that
// IsDeviceFault, or the watchdog says so), everything accepted is answered
// UNAVAILABLE at once, and so is what is offered from then on; no run that ends
// later is answered OK. The process should end: what hangs on the device would
// keep Remove, Stop and destruction.
class DeviceWorker {
 public:
  // Called once, on the worker's thread, which also destroys the device.
  using DeviceFactory =
      std::function<absl::StatusOr<std::unique_ptr<Device>>()>;

  // Fails as the factory does. `clock` and `metrics` must outlive the worker.
  static absl::StatusOr<std::unique_ptr<DeviceWorker>> Create(
      const DeviceFactory& factory, const WorkerOptions& options, Clock& clock,
      prometheus::Registry& metrics);

  virtual ~DeviceWorker() = default;

  // For the loader: Load and Prepare beside serving.
  virtual Device& device() = 0;

  // Begins to serve `model`. Its first task may be offered when this returns.
  virtual void Add(ServedModel model) = 0;

  // Ends it: waiting tasks, if any, are answered UNAVAILABLE, running batches
  // finish and their outputs are dropped by their owners; then executables and
  // weights are destroyed. Blocks until then.
  virtual void Remove(uint64_t uid) = 0;

  // On OK the task is the worker's until it is completed. On an error it is
  // still the caller's: RESOURCE_EXHAUSTED (queue full in requests or bytes;
  // the message says which bound, and RetryAfter carries a hint), UNAVAILABLE
  // (stopping), INVALID_ARGUMENT (more rows than the maximum, or dims that no
  // variant may have), DEADLINE_EXCEEDED (it cannot be met). Never blocks.
  virtual absl::Status Offer(uint64_t uid, InferTask& task) = 0;

  // The caller is gone: a task that still waits is completed with CANCELLED at
  // once and never launched; one that runs is completed as it ends.
  // `task` must be one that was accepted and whose owner keeps it alive.
  virtual void Cancel(uint64_t uid, InferTask& task) = 0;

  virtual WorkerLoad load() const = 0;

  // The device is lost if a run or a loader's step is stuck on it and
  // Device::is_lost_when_stuck.
  // To be called now and again, by a thread that does not wait for devices.
  virtual void CheckWatchdog() = 0;

  // The device is lost, as who called it has seen: `why` IsDeviceFault. Does
  // nothing the second time.
  virtual void Lose(const absl::Status& why) = 0;

  // Refuses new tasks and answers everything accepted, until `deadline`; what
  // is then left is completed with UNAVAILABLE. Returns whether nothing was.
  virtual bool Stop(absl::Time deadline) = 0;
};

}  // namespace reprise
