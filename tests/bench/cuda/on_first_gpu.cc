#include "tests/bench/cuda/on_first_gpu.h"

#include <cstdio>
#include <memory>
#include <string>

#include "runtime/base/status_macros.h"
#include "runtime/cuda/kernels.h"
#include "runtime/device/fault.h"
#include "tests/testing/first_gpu.h"

namespace reprise::bench {
namespace {

absl::Status Run(
    absl::FunctionRef<absl::Status(const cuda::CurrentContext&, cuda::Modules&)>
        work) {
  REPRISE_ASSIGN_OR_RETURN(const cuda::GpuInfo gpu, testing::FirstGpu());
  REPRISE_ASSIGN_OR_RETURN(const cuda::Driver* const driver,
                           testing::TheDriver());
  REPRISE_ASSIGN_OR_RETURN(const std::unique_ptr<cuda::PrimaryContext> context,
                           cuda::PrimaryContext::Retain(*driver, gpu.device));
  REPRISE_ASSIGN_OR_RETURN(const cuda::CurrentContext current,
                           cuda::CurrentContext::Enter(*context));
  cuda::Modules modules;
  for (const cuda::KernelImage& image : cuda::KernelImages()) {
    REPRISE_RETURN_IF_ERROR(modules.Add(current, image.name, image.fatbin));
  }
  return work(current, modules);
}

}  // namespace

int OnFirstGpu(
    absl::FunctionRef<absl::Status(const cuda::CurrentContext&, cuda::Modules&)>
        work) {
  const absl::Status status = Run(work);
  if (status.ok()) return 0;
  const bool skipped = absl::IsUnavailable(status) && !IsDeviceFault(status);
  std::printf("%s: %s\n", skipped ? "skipped" : "FAILED",
              std::string(status.message()).c_str());
  return skipped ? 77 : 1;
}

}  // namespace reprise::bench
