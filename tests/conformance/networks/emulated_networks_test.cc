// Small networks from captured graphs of the CUDA device, over a fake driver
// and emulated kernels: they answer as the CPU device does, at every number of
// rows.
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/clock.h"
#include "runtime/base/status_macros.h"
#include "runtime/cpu/cpu_device.h"
#include "tests/conformance/device/op_compare.h"
#include "tests/conformance/networks/networks.h"
#include "tests/runtime/cuda/emulation/emulated_device.h"
#include "tests/testing/status_matchers.h"

namespace reprise::conformance {
namespace {

using ::reprise::testing::IsOk;

constexpr int kMostRows = 4;

struct Loaded {
  std::unique_ptr<LoadedModel> model;
  std::unique_ptr<Executable> executable;
};

absl::StatusOr<Loaded> Load(Device& device, const ReadNetwork& network) {
  Loaded loaded;
  REPRISE_ASSIGN_OR_RETURN(
      loaded.model,
      device.Load(network.graph, network.signature, {.model = "network/1"}));
  REPRISE_ASSIGN_OR_RETURN(loaded.executable,
                           loaded.model->Prepare({}, LadderTo(kMostRows), 0));
  return loaded;
}

class EmulatedNetworksTest : public ::testing::TestWithParam<Network> {};

TEST_P(EmulatedNetworksTest, AnswersAsTheCpuDoesAtEveryNumberOfRows) {
  auto network = Read(GetParam());
  if (absl::IsUnavailable(network.status())) {
    GTEST_SKIP() << network.status().message();
  }
  ASSERT_THAT(network, IsOk());
  network->signature.max_batch = kMostRows;
  const auto gpu = emulation::MakeEmulatedDevice(RealClock::Get());
  ASSERT_THAT(gpu, IsOk());
  const auto cpu = cpu::MakeCpuDevice({}, RealClock::Get());
  ASSERT_THAT(cpu, IsOk());
  const auto by_gpu = Load(**gpu, *network);
  ASSERT_THAT(by_gpu, IsOk());
  const auto by_cpu = Load(**cpu, *network);
  ASSERT_THAT(by_cpu, IsOk());
  const std::vector<HostTensor> inputs =
      MakeInputs(network->signature, kMostRows);
  for (int rows = 1; rows <= kMostRows; ++rows) {
    const auto got = RunRows(*by_gpu->executable, inputs, rows);
    ASSERT_THAT(got, IsOk());
    const auto want = RunRows(*by_cpu->executable, inputs, rows);
    ASSERT_THAT(want, IsOk());
    for (size_t k = 0; k < want->size(); ++k) {
      const Tolerance tolerance =
          IsFloat((*want)[k].dtype()) ? Tolerance{2e-3, 2e-4} : Tolerance{};
      EXPECT_EQ(FirstDifference((*got)[k], (*want)[k], tolerance, rows), "")
          << GetParam().name << ", output " << k << " of " << rows << " rows";
    }
  }
}

std::vector<Network> SmallOnes() {
  std::vector<Network> small;
  for (const Network& network : Networks()) {
    if (network.small) small.push_back(network);
  }
  return small;
}

INSTANTIATE_TEST_SUITE_P(Small, EmulatedNetworksTest,
                         ::testing::ValuesIn(SmallOnes()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace reprise::conformance
