// Which devices the daemon serves on.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "prometheus/registry.h"
#include "runtime/base/clock.h"
#include "runtime/device/device.h"
#include "runtime/device/sensors.h"
#include "runtime/worker/device_worker.h"
#include "server/options.h"

namespace reprise {

// What tells one GPU from another.
struct GpuIdentity {
  std::string uuid;  // "GPU-..." or "MIG-..."
  std::string name;
  std::string sm;  // compute capability: "90"
};

// One device, not made yet: it is made on its worker's thread.
struct DeviceToMake {
  std::optional<int> gpu_index;  // none: the CPU
  DeviceWorker::DeviceFactory make;
  GpuIdentity gpu = {};  // empty for the CPU
  // As GpuMetrics::Gpu; null: it has none.
  std::function<absl::StatusOr<std::unique_ptr<Sensors>>()> sensors = nullptr;
};

// Those that `options` ask for: the GPUs that they name, or the CPU. Says in
// the log what there is, and a warning where the CPU stands in for GPUs.
// UNAVAILABLE: GPUs are asked for, and none can be used; other errors are about
// the GPUs that `options.gpus` names. `clock` outlives the devices.
absl::StatusOr<std::vector<DeviceToMake>> FindDevices(
    const ServerOptions& options, Clock& clock);

// The first of them, for the thread that asks: for trying models.
absl::StatusOr<std::unique_ptr<Device>> MakeDevice(const ServerOptions& options,
                                                   Clock& clock);

// Which program serves with which libraries, and the GPUs among `devices`, as
// series that are always 1.
void ShowDevices(const std::vector<DeviceToMake>& devices,
                 const std::string& version, const std::string& commit,
                 prometheus::Registry& metrics);

}  // namespace reprise
