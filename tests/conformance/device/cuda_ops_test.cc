// The CUDA device on the first GPU that can be used, held to the CPU device;
// skipped, with the reason, where there is none.
#include "runtime/base/status_macros.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cpu/evaluate.h"
#include "runtime/cuda/cuda_device.h"
#include "tests/conformance/device/op_suite.h"
#include "tests/testing/first_gpu.h"

namespace reprise::conformance {
namespace {

absl::StatusOr<std::unique_ptr<Device>> MakeCpu(Clock& clock) {
  return cpu::MakeCpuDevice({}, clock);
}

absl::StatusOr<std::unique_ptr<Device>> MakeWithoutLibrary(Clock& clock) {
  REPRISE_ASSIGN_OR_RETURN(const cuda::GpuInfo gpu, testing::FirstGpu());
  REPRISE_ASSIGN_OR_RETURN(const cuda::Driver* const driver,
                           testing::TheDriver());
  cuda::CudaDeviceOptions options;
  options.evaluate = cpu::EvaluateNode;
  return cuda::MakeCudaDevice(*driver, gpu, options, clock);
}

const std::vector<std::string>& Precisions() {
  static const auto& all =
      *new std::vector<std::string>{"fp32", "tf32", "fp16", "bf16"};
  return all;
}

const OpDevice& Cuda() {
  static const auto& device =
      *new OpDevice{"cuda", testing::MakeFirstGpuDevice, MakeCpu, Precisions()};
  return device;
}

const OpDevice& CudaWithoutLibrary() {
  static const auto& device = *new OpDevice{
      "cuda without cuBLASLt", MakeWithoutLibrary, MakeCpu, Precisions()};
  return device;
}

INSTANTIATE_TEST_SUITE_P(Cuda, OpSuite, ::testing::ValuesIn(OpParams(Cuda())),
                         OpParamName);
INSTANTIATE_TEST_SUITE_P(CudaWithoutLibrary, OpSuite,
                         ::testing::ValuesIn(OpParams(CudaWithoutLibrary(),
                                                      {"MatMul", "Gemm"})),
                         OpParamName);

}  // namespace
}  // namespace reprise::conformance
