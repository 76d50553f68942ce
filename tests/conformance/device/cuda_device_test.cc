// The CUDA device under the suite, on the first GPU that can be used; skipped,
// with the reason, where there is none.
#include "tests/conformance/device/device_suite.h"
#include "tests/testing/first_gpu.h"

namespace reprise::conformance {
namespace {

INSTANTIATE_TEST_SUITE_P(Cuda, DeviceSuite,
                         ::testing::Values(DeviceCase{
                             "FirstGpu", testing::MakeFirstGpuDevice, false}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace reprise::conformance
