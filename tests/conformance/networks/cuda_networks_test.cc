// Whole networks on the first GPU, held to the CPU device at every number of
// rows; skipped, with the reason, where there is no GPU.
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/clock.h"
#include "runtime/base/status_macros.h"
#include "runtime/cpu/cpu_device.h"
#include "tests/conformance/device/op_compare.h"
#include "tests/conformance/device/op_values.h"
#include "tests/conformance/networks/networks.h"
#include "tests/testing/first_gpu.h"
#include "tests/testing/status_matchers.h"

namespace reprise::conformance {
namespace {

using ::reprise::testing::IsOk;

// What a network's answers may be off by: those of an operator, six layers on.
Tolerance NetworkTolerance(DType dtype, const std::string& precision) {
  if (!IsFloat(dtype)) return {};
  if (precision == "fp32") return {2e-3, 2e-4};
  if (precision == "tf32") return {1e-2, 1e-2};
  return precision == "fp16" ? Tolerance{2e-2, 2e-2} : Tolerance{0.15, 0.15};
}

struct Loaded {
  std::unique_ptr<LoadedModel> model;
  std::unique_ptr<Executable> executable;
};

absl::StatusOr<Loaded> Load(Device& device, const ReadNetwork& network,
                            const std::vector<int>& ladder,
                            const std::string& precision) {
  Loaded loaded;
  REPRISE_ASSIGN_OR_RETURN(
      loaded.model,
      device.Load(network.graph, network.signature,
                  {.model = "network/1", .precision = precision}));
  REPRISE_ASSIGN_OR_RETURN(loaded.executable,
                           loaded.model->Prepare({}, ladder, 0));
  return loaded;
}

// The first rows of a tensor.
HostTensor FirstRows(const HostTensor& tensor, int rows) {
  Dims dims = tensor.dims();
  dims[0] = rows;
  HostTensor first = HostTensor::Create(tensor.dtype(), dims).value();
  std::ranges::copy(tensor.bytes().first(first.bytes().size()),
                    first.bytes().begin());
  return first;
}

double LargestDifference(const HostTensor& a, const HostTensor& b) {
  double largest = 0;
  for (size_t i = 0; i < static_cast<size_t>(a.elements()); ++i) {
    largest = std::max(largest, std::abs(NumberAt(a, i) - NumberAt(b, i)));
  }
  return largest;
}

class CudaNetworksTest : public ::testing::TestWithParam<Network> {
 protected:
  // The first answers of the CPU device are those of fewer rows: rows do not
  // depend on each other, which it has found when it loaded the model.
  void ExpectCpusAnswers(Device& gpu, const ReadNetwork& network,
                         const std::string& precision,
                         const std::vector<HostTensor>& inputs,
                         const std::vector<HostTensor>& want) {
    auto loaded = Load(gpu, network, LadderTo(GetParam().max_rows), precision);
    ASSERT_THAT(loaded, IsOk());
    double largest = 0;
    for (int rows = 1; rows <= GetParam().max_rows; ++rows) {
      const auto got = RunRows(*loaded->executable, inputs, rows);
      ASSERT_THAT(got, IsOk());
      for (size_t k = 0; k < want.size(); ++k) {
        const HostTensor expected = FirstRows(want[k], rows);
        EXPECT_EQ(FirstDifference((*got)[k], expected,
                                  NetworkTolerance(expected.dtype(), precision),
                                  rows),
                  "")
            << GetParam().name << " as " << precision << ", output " << k
            << " of " << rows << " rows";
        largest = std::max(largest, LargestDifference((*got)[k], expected));
      }
      if (HasFailure()) return;
    }
    std::cout << GetParam().name << " as " << precision << ": 1 to "
              << GetParam().max_rows << " rows, largest difference " << largest
              << "\n";
  }
};

TEST_P(CudaNetworksTest, AnswersAsTheCpuDoesAtEveryNumberOfRows) {
  auto gpu = testing::MakeFirstGpuDevice(RealClock::Get());
  if (absl::IsUnavailable(gpu.status())) {
    GTEST_SKIP() << gpu.status().message();
  }
  ASSERT_THAT(gpu, IsOk());
  const auto network = Read(GetParam());
  if (absl::IsUnavailable(network.status())) {
    GTEST_SKIP() << network.status().message();
  }
  ASSERT_THAT(network, IsOk());
  const int max_rows = GetParam().max_rows;
  const std::vector<HostTensor> inputs =
      MakeInputs(network->signature, max_rows);
  auto cpu = cpu::MakeCpuDevice({}, RealClock::Get());
  ASSERT_THAT(cpu, IsOk());
  auto by_cpu = Load(**cpu, *network, {max_rows}, "fp32");
  ASSERT_THAT(by_cpu, IsOk());
  const auto want = RunRows(*by_cpu->executable, inputs, max_rows);
  ASSERT_THAT(want, IsOk());
  for (const std::string precision : {"fp32", "tf32", "fp16", "bf16"}) {
    ExpectCpusAnswers(**gpu, *network, precision, inputs, *want);
  }
}

INSTANTIATE_TEST_SUITE_P(All, CudaNetworksTest,
                         ::testing::ValuesIn(Networks().begin(),
                                             Networks().end()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace reprise::conformance
