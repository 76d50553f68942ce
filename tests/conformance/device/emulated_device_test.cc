// The CUDA device under the suite, over a fake driver and emulated kernels.
#include "tests/runtime/cuda/emulation/emulated_device.h"

#include "tests/conformance/device/device_suite.h"

namespace reprise::conformance {
namespace {

INSTANTIATE_TEST_SUITE_P(EmulatedCuda, DeviceSuite,
                         ::testing::Values(DeviceCase{
                             "Gpu", emulation::MakeEmulatedDevice, false}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace reprise::conformance
