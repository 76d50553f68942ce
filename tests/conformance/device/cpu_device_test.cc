// The CPU device under the suite: by its own rule, by its lanes' threads alone,
// and with one thread.
#include "runtime/cpu/cpu_device.h"

#include "tests/conformance/device/device_suite.h"

namespace reprise::conformance {
namespace {

DeviceCase Cpu(const std::string& name, const cpu::CpuDeviceOptions& options) {
  return {name, [options](Clock& clock) {
            return cpu::MakeCpuDevice(options, clock);
          }};
}

INSTANTIATE_TEST_SUITE_P(
    Cpu, DeviceSuite,
    ::testing::Values(Cpu("ByRule", {}),
                      Cpu("HandedOver", {.inline_below = absl::ZeroDuration()}),
                      Cpu("AlwaysInline",
                          {.threads = 1, .inline_below = absl::Seconds(10)})),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace reprise::conformance
