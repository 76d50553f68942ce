// Whole networks through the CUDA lowering: no node is left over, in any
// precision and at any rung; small ones run in the emulator and answer as the
// CPU device does.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/clock.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cpu/evaluate.h"
#include "runtime/cuda/cuda_lowering.h"
#include "runtime/ops/fold_constants.h"
#include "runtime/ops/fuse.h"
#include "tests/conformance/device/op_compare.h"
#include "tests/conformance/networks/networks.h"
#include "tests/runtime/cuda/emulation/emulator.h"
#include "tests/testing/status_matchers.h"

namespace reprise::conformance {
namespace {

using ::reprise::testing::IsOk;

constexpr cuda::Precision kPrecisions[] = {
    cuda::Precision::kFp32, cuda::Precision::kTf32, cuda::Precision::kFp16,
    cuda::Precision::kBf16};

// The emulator multiplies exactly, so TF32 is FP32 to it.
Tolerance EmulatedTolerance(DType dtype, cuda::Precision precision) {
  if (!IsFloat(dtype)) return {};
  if (precision == cuda::Precision::kFp16) return {2e-2, 1e-2};
  if (precision == cuda::Precision::kBf16) return {0.1, 0.1};
  return {2e-3, 2e-4};
}

// The graph as the device lowers it: constants folded, neighbours fused.
graph::Graph Prepared(const ReadNetwork& network) {
  graph::Graph graph = *network.graph;
  EXPECT_THAT(ops::FoldConstants(graph, {}, cpu::EvaluateNode), IsOk());
  EXPECT_THAT(ops::Fuse(graph, {}), IsOk());
  return graph;
}

std::vector<HostTensor> ByCpu(const ReadNetwork& network,
                              const std::vector<HostTensor>& inputs, int rows) {
  auto device = cpu::MakeCpuDevice({}, RealClock::Get());
  EXPECT_THAT(device, IsOk());
  auto model =
      (*device)->Load(network.graph, network.signature, {.model = "network/1"});
  EXPECT_THAT(model, IsOk());
  auto executable = (*model)->Prepare({}, {rows}, 0);
  EXPECT_THAT(executable, IsOk());
  auto outputs = RunRows(**executable, inputs, rows);
  EXPECT_THAT(outputs, IsOk());
  return outputs.ok() ? *std::move(outputs) : std::vector<HostTensor>();
}

std::vector<HostTensor> ByEmulator(const ops::BoundGraph& bound,
                                   const cuda::Program& program,
                                   const cuda::CudaWeights& weights,
                                   std::vector<HostTensor>& inputs) {
  std::vector<HostTensor> outputs;
  std::vector<std::byte*> from;
  std::vector<std::byte*> to;
  for (HostTensor& input : inputs) from.push_back(input.bytes().data());
  for (const graph::ValueId id : bound.graph->outputs) {
    const ops::TensorType& type = bound.types[graph::At(id)];
    outputs.push_back(HostTensor::Create(type.dtype, type.dims).value());
    to.push_back(outputs.back().bytes().data());
  }
  EXPECT_THAT(emulation::Run(program, weights, from, to), IsOk());
  return outputs;
}

class NetworkLoweringTest : public ::testing::TestWithParam<Network> {
 protected:
  void SetUp() override {
    auto network = Read(GetParam());
    if (absl::IsUnavailable(network.status())) {
      GTEST_SKIP() << network.status().message();
    }
    ASSERT_THAT(network, IsOk());
    network_ = *std::move(network);
  }

  ReadNetwork network_;
};

TEST_P(NetworkLoweringTest, IsLoweredEntirely) {
  const graph::Graph graph = Prepared(network_);
  for (const cuda::Precision precision : kPrecisions) {
    for (const auto chains :
         {cuda::Chains::kNodeByNode, cuda::Chains::kWritten}) {
      cuda::CudaWeights weights;
      for (const int rows : LadderTo(GetParam().max_rows)) {
        auto bound = ops::Bind(graph, network_.signature, rows, {});
        ASSERT_THAT(bound, IsOk());
        EXPECT_THAT(cuda::Lower(*bound, weights,
                                {.precision = precision, .chains = chains}),
                    IsOk())
            << rows << " rows";
      }
    }
  }
}

TEST_P(NetworkLoweringTest, AnswersAsTheCpuDoes) {
  if (!GetParam().small) GTEST_SKIP() << "too large for the emulator";
  const graph::Graph graph = Prepared(network_);
  const int rows = GetParam().max_rows - 1;
  std::vector<HostTensor> inputs = MakeInputs(network_.signature, rows);
  const std::vector<HostTensor> want = ByCpu(network_, inputs, rows);
  auto bound = ops::Bind(graph, network_.signature, rows, {});
  ASSERT_THAT(bound, IsOk());
  for (const cuda::Precision precision : kPrecisions) {
    for (const auto chains :
         {cuda::Chains::kNodeByNode, cuda::Chains::kWritten}) {
      cuda::CudaWeights weights;
      auto program = cuda::Lower(*bound, weights,
                                 {.precision = precision, .chains = chains});
      ASSERT_THAT(program, IsOk());
      const std::vector<HostTensor> got =
          ByEmulator(*bound, *program, weights, inputs);
      ASSERT_EQ(got.size(), want.size());
      for (size_t k = 0; k < got.size(); ++k) {
        EXPECT_EQ(FirstDifference(got[k], want[k],
                                  EmulatedTolerance(want[k].dtype(), precision),
                                  rows),
                  "")
            << "output " << k << ", precision " << static_cast<int>(precision);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, NetworkLoweringTest,
                         ::testing::ValuesIn(Networks().begin(),
                                             Networks().end()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace reprise::conformance
