// A GPU as a Device: captured graphs over the driver.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/base/clock.h"
#include "runtime/cuda/cuda_devices.h"
#include "runtime/cuda/cuda_loaded_model.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/graph_probe.h"
#include "runtime/cuda/kernels.h"
#include "runtime/device/device.h"

namespace reprise::cuda {

struct CudaDeviceOptions {
  // Slots of the device's pool for each lane; at least 2.
  int slots_per_lane = 4;
  // How constants are folded; must be set.
  EvaluateFn evaluate = nullptr;
  // Matrix products, outlives the device; null: by kernels of our own, which
  // take many times as long.
  const CublasLt* cublaslt = nullptr;
  // A rung that fails to be captured, or whose replays are not what the run
  // before them was, fails the load. Otherwise it is left out with a warning,
  // unless it is the largest: its batches run on the next one.
  bool strict_graphs = true;
  // Holds a row of every variant against another device (--verify). Null: not.
  ReferenceFn reference = nullptr;
  // LoadSteps::longest.
  absl::Duration load_step = absl::Milliseconds(5);
  // Looked through before the kernels of KernelImages: how a test has a kernel
  // fail.
  std::vector<KernelImage> kernels_instead = {};
  // In every captured graph, outlives the device; null: none.
  GraphProbe* probe = nullptr;
};

// The device of `gpu`, one for each in the process.
//
// Lifecycle: every LoadedModel, Executable and SlotLease goes before it.
// Threads: as Device; it is made and destroyed on the thread that runs batches,
// which has its context current meanwhile.
//
// Fails as the driver does, or with INVALID_ARGUMENT for the options. `driver`
// and `clock` outlive the device.
absl::StatusOr<std::unique_ptr<Device>> MakeCudaDevice(
    const Driver& driver, const GpuInfo& gpu, const CudaDeviceOptions& options,
    Clock& clock);

}  // namespace reprise::cuda
