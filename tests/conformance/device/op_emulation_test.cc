// The operator suite's cases without a GPU: lowered as the CUDA device lowers
// them and run in the emulator, held to the plain loops.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/cuda_lowering.h"
#include "runtime/ops/bound_graph.h"
#include "tests/conformance/device/op_case.h"
#include "tests/conformance/device/op_compare.h"
#include "tests/conformance/device/op_model.h"
#include "tests/runtime/cuda/emulation/emulator.h"
#include "tests/testing/status_matchers.h"

namespace reprise::conformance {
namespace {

using ::reprise::testing::IsOk;

constexpr int kMaxRows = 5;
// What the emulator runs in reasonable time.
constexpr int64_t kMaxElements = 1100;

// How FP32 is computed, and by what.
struct Way {
  std::string precision;
  cuda::LoweringOptions options;
};
std::vector<Way> WaysOf(const OpGroup& group) {
  const bool product = group.row->op == "MatMul" || group.row->op == "Gemm";
  std::vector<Way> ways = {{"fp32", {}}};
  if (product) ways.push_back({"fp32", {.has_cublaslt = false}});
  if (group.dtype != DType::kFp32) return ways;
  ways.push_back({"fp16", {.precision = cuda::Precision::kFp16}});
  ways.push_back({"bf16", {.precision = cuda::Precision::kBf16}});
  return ways;
}

absl::StatusOr<std::vector<HostTensor>> Emulate(
    const OpModel& model, int rows, const cuda::LoweringOptions& options) {
  REPRISE_ASSIGN_OR_RETURN(const ops::BoundGraph bound,
                           ops::Bind(*model.graph, model.signature, rows, {}));
  cuda::CudaWeights weights;
  REPRISE_ASSIGN_OR_RETURN(const cuda::Program program,
                           cuda::Lower(bound, weights, options));
  std::vector<HostTensor> inputs;
  std::vector<std::byte*> from;
  for (const auto& [one, operand] : model.inputs) {
    const HostTensor& whole = *model.operands[one][operand];
    Dims dims = whole.dims();
    if (model.batched) dims[0] = rows;
    inputs.push_back(HostTensor::Create(whole.dtype(), dims).value());
    std::ranges::copy(RowsOf(whole, model.batched, rows, kMaxRows),
                      inputs.back().bytes().begin());
    from.push_back(inputs.back().bytes().data());
  }
  std::vector<HostTensor> outputs;
  std::vector<std::byte*> to;
  for (const graph::ValueId id : bound.graph->outputs) {
    const ops::TensorType& type = bound.types[graph::At(id)];
    outputs.push_back(HostTensor::Create(type.dtype, type.dims).value());
    to.push_back(outputs.back().bytes().data());
  }
  REPRISE_RETURN_IF_ERROR(emulation::Run(program, weights, from, to));
  return outputs;
}

void ExpectSame(const OpModel& model, const OpGroup& group, const Way& way,
                int rows) {
  if (model.cases.empty()) return;
  const auto got = Emulate(model, rows, way.options);
  ASSERT_THAT(got, IsOk()) << GroupName(group);
  const auto want = ByPlainLoops(model, group, rows);
  ASSERT_THAT(want, IsOk()) << GroupName(group);
  ASSERT_EQ(got->size(), want->size());
  size_t k = 0;
  for (const OpCase* one : model.cases) {
    for (int output = 0; output < one->outputs; ++output, ++k) {
      Tolerance tolerance = ToleranceOf((*want)[k].dtype(), way.precision);
      if (group.row->exact && way.precision == "fp32") tolerance = {};
      EXPECT_EQ(FirstDifference((*got)[k], (*want)[k], tolerance,
                                model.batched ? rows : 0),
                "")
          << GroupName(group) << " as " << way.precision << ", case '"
          << one->name << "', output " << output << " of " << rows << " rows";
    }
  }
}

class OpEmulationTest : public ::testing::TestWithParam<OpGroup> {};

TEST_P(OpEmulationTest, AnswersAsPlainLoopsDo) {
  const OpGroup& group = GetParam();
  for (const Way& way : WaysOf(group)) {
    auto models = MakeOpModels(
        group, kMaxRows,
        {.max_elements = kMaxElements, .narrow = way.precision != "fp32"});
    ASSERT_THAT(models, IsOk()) << GroupName(group);
    for (const int rows : {1, kMaxRows}) {
      ExpectSame(models->batched, group, way, rows);
    }
    ExpectSame(models->fixed, group, way, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(All, OpEmulationTest,
                         ::testing::ValuesIn(AllOpGroups()),
                         [](const auto& tested) {
                           return GroupName(tested.param);
                         });

}  // namespace
}  // namespace reprise::conformance
