// The CUDA device on the first GPU of this machine, for tests that need one.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/base/clock.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/cuda_devices.h"
#include "runtime/cuda/driver.h"
#include "runtime/device/device.h"

namespace reprise::testing {

// The driver, open for the life of the process. UNAVAILABLE: there is none.
absl::StatusOr<const cuda::Driver*> TheDriver();

// The first GPU that can be used. UNAVAILABLE: there is none.
absl::StatusOr<cuda::GpuInfo> FirstGpu();

// What a device of it is made with: cuBLASLt where that is there.
// UNAVAILABLE: there is no driver.
absl::StatusOr<cuda::CudaDeviceOptions> FirstGpuOptions();

// Its device, with those options. UNAVAILABLE: there is no GPU, for which a
// test is skipped.
absl::StatusOr<std::unique_ptr<Device>> MakeFirstGpuDevice(Clock& clock);

}  // namespace reprise::testing
