// Which GPUs there are, and which of them are to be used.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/cuda/driver.h"

namespace reprise::cuda {

// A GPU, or a slice of one, as the driver shows it to this process.
struct GpuInfo {
  CUdevice device = 0;
  int ordinal = 0;  // as the driver counts: after CUDA_VISIBLE_DEVICES
  std::string name;
  std::string uuid;  // "GPU-8-4-4-4-12 digits", or "MIG-..." of a slice
  bool mig = false;
  int major = 0;  // compute capability
  int minor = 0;
  int64_t total_memory = 0;  // bytes
  int multiprocessors = 0;
  std::string pci;               // "0000:41:00.0"
  std::optional<int> numa_node;  // of the host's memory that is nearest
  bool prohibited = false;       // the compute mode lets nobody use it
};

// Starts the driver and asks it for all that it shows. The driver applies
// CUDA_VISIBLE_DEVICES by itself; `visible` is its value, if it is set, for
// messages. NOT_FOUND: no GPU; UNAVAILABLE: the driver does not start.
absl::StatusOr<std::vector<GpuInfo>> ListGpus(
    const Driver& driver, const std::optional<std::string>& visible);

// Those of `gpus` that `selection` names, in its order: "all", or a list with
// commas of ordinals, "GPU-" and "MIG-" with a UUID or as much of its beginning
// as is unambiguous. "all" leaves out those that cannot be used: older than
// compute capability 7.5, or prohibited by their compute mode.
// INVALID_ARGUMENT: not such a list, or a GPU is named twice; NOT_FOUND: there
// is no such GPU; FAILED_PRECONDITION: it cannot be used, or they are two MIG
// slices, of which a process can have one only.
absl::StatusOr<std::vector<GpuInfo>> ChooseGpus(
    const std::vector<GpuInfo>& gpus, absl::string_view selection);

// For the log at start: the driver, and a GPU.
std::string DriverLine(const Driver& driver);
std::string GpuLine(const GpuInfo& gpu);

}  // namespace reprise::cuda
