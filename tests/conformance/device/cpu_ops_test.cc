// The CPU device, with oneDNN, lanes and batches, held to the plain loops that
// constants are folded with; those are held to ONNX's own tests in ../onnx.
#include "runtime/cpu/cpu_device.h"
#include "tests/conformance/device/op_suite.h"

namespace reprise::conformance {
namespace {

const OpDevice& Cpu() {
  static const auto& device = *new OpDevice{
      "cpu", [](Clock& clock) { return cpu::MakeCpuDevice({}, clock); }};
  return device;
}

INSTANTIATE_TEST_SUITE_P(Cpu, OpSuite, ::testing::ValuesIn(OpParams(Cpu())),
                         OpParamName);

}  // namespace
}  // namespace reprise::conformance
