#include "tests/testing/first_gpu.h"

#include <optional>
#include <vector>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/evaluate.h"
#include "runtime/cuda/cublaslt.h"

namespace reprise::testing {
namespace {

absl::Status AsUnavailable(const absl::Status& status) {
  if (!absl::IsNotFound(status)) return status;
  return absl::UnavailableError(status.message());
}

const cuda::CublasLt* TheCublasLt(const cuda::Driver& driver) {
  static const auto& lt = *new absl::StatusOr<cuda::CublasLt>([&driver] {
    int version = 0;
    driver.DriverGetVersion(&version);
    return cuda::LoadCublasLt(version);
  }());
  return lt.ok() ? &*lt : nullptr;
}

}  // namespace

absl::StatusOr<const cuda::Driver*> TheDriver() {
  static const auto& driver =
      *new absl::StatusOr<cuda::Driver>(cuda::LoadDriver());
  REPRISE_RETURN_IF_ERROR(AsUnavailable(driver.status()));
  return &*driver;
}

absl::StatusOr<cuda::GpuInfo> FirstGpu() {
  REPRISE_ASSIGN_OR_RETURN(const cuda::Driver* const driver, TheDriver());
  auto gpus = cuda::ListGpus(*driver, std::nullopt);
  REPRISE_RETURN_IF_ERROR(AsUnavailable(gpus.status()));
  REPRISE_ASSIGN_OR_RETURN(const std::vector<cuda::GpuInfo> usable,
                           cuda::ChooseGpus(*gpus, "all"));
  if (usable.empty()) return absl::UnavailableError("no GPU can be used");
  return usable.front();
}

absl::StatusOr<cuda::CudaDeviceOptions> FirstGpuOptions() {
  REPRISE_ASSIGN_OR_RETURN(const cuda::Driver* const driver, TheDriver());
  cuda::CudaDeviceOptions options;
  options.evaluate = cpu::EvaluateNode;
  options.cublaslt = TheCublasLt(*driver);
  return options;
}

absl::StatusOr<std::unique_ptr<Device>> MakeFirstGpuDevice(Clock& clock) {
  REPRISE_ASSIGN_OR_RETURN(const cuda::GpuInfo gpu, FirstGpu());
  REPRISE_ASSIGN_OR_RETURN(const cuda::Driver* const driver, TheDriver());
  REPRISE_ASSIGN_OR_RETURN(const cuda::CudaDeviceOptions options,
                           FirstGpuOptions());
  return cuda::MakeCudaDevice(*driver, gpu, options, clock);
}

}  // namespace reprise::testing
