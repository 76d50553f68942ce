#include "runtime/cpu/cpu_lowering.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/cpu/evaluate.h"
#include "runtime/ops/fold_constants.h"
#include "runtime/ops/fuse.h"
#include "tests/runtime/cpu/model_fixture.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::OnnxBuilder;
using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;

struct Result {
  std::vector<float> y;
  std::string plan;
};

// Runs `model` at `rows` rows of noise; output 0 as floats.
Result RunModel(const TestModel& model, int rows, bool fuse, bool use_onednn) {
  graph::Graph graph = *model.graph;
  if (fuse) {
    EXPECT_THAT(ops::FoldConstants(graph, {}, EvaluateNode), IsOk());
    EXPECT_THAT(ops::Fuse(graph, {}), IsOk());
  }
  Result result;
  auto bound = ops::Bind(graph, model.signature, rows, {});
  EXPECT_THAT(bound, IsOk());
  auto dnn = OneDnn::Create();
  EXPECT_THAT(dnn, IsOk());
  Weights weights(graph);
  auto program = Lower(*bound, *dnn, weights, {.use_onednn = use_onednn});
  EXPECT_THAT(program, IsOk());
  if (!program.ok()) return result;
  result.plan = plan::PlanText(program->plan);
  AlignedBuffer arena(static_cast<size_t>(program->plan.arena_bytes));
  Runner runner(*std::move(program), arena.data());
  const auto count = [&](graph::ValueId id) {
    return static_cast<size_t>(NumElements(bound->types[id].dims).value());
  };
  std::vector<float> x = Noise(count(graph.inputs[0]), 42);
  result.y.resize(count(graph.outputs[0]));
  std::byte* const inputs[] = {reinterpret_cast<std::byte*>(x.data())};
  std::byte* const outputs[] = {reinterpret_cast<std::byte*>(result.y.data())};
  EXPECT_THAT(runner.Run({inputs, outputs}), IsOk());
  return result;
}

TEST(CpuLoweringTest, AFusedNetworkInBlocksGivesThePlainLoopsAnswer) {
  const TestModel model = Import(ConvNet(), 4);
  const Result plain = RunModel(model, 3, /*fuse=*/false, /*use_onednn=*/false);
  const Result fast = RunModel(model, 3, /*fuse=*/true, /*use_onednn=*/true);
  EXPECT_THAT(plain.plan, Not(HasSubstr("Conv:")));
  EXPECT_THAT(fast.plan, HasSubstr("Conv:"));
  EXPECT_THAT(fast.plan, Not(HasSubstr("BatchNormalization")));
  ASSERT_EQ(plain.y.size(), 15);
  for (size_t i = 0; i < plain.y.size(); ++i) {
    EXPECT_NEAR(fast.y[i], plain.y[i], 1e-5) << fast.plan;
  }
}

TEST(CpuLoweringTest, ReshapesAreViewsAndOutputsLieInTheSlot) {
  OnnxBuilder model(13);
  model.Input("x", {"N", 4})
      .Int64s("shape", {3}, {0, 2, 2})
      .Node("Relu", {"x"}, {"h"})
      .Node("Reshape", {"h", "shape"}, {"y"})
      .Output("y", {"N", 2, 2});
  const Result result = RunModel(Import(model, 4), 2, true, true);
  EXPECT_THAT(result.plan, HasSubstr("arena 0 bytes"));
  EXPECT_THAT(result.plan, HasSubstr("buffer h 32 bytes: slot output 0"));
  EXPECT_THAT(result.plan, HasSubstr("buffer y 32 bytes: view of h"));
}

TEST(CpuLoweringTest, AnOutputThatIsAnInputIsCopied) {
  OnnxBuilder model(13);
  model.Input("x", {"N", 4})
      .Node("Identity", {"x"}, {"y"})
      .Output("y", {"N", 4});
  const Result result = RunModel(Import(model, 4), 2, false, true);
  EXPECT_THAT(result.plan, HasSubstr("step 0 Copy(y) -> y#out"));
  EXPECT_EQ(result.y, Noise(8, 42));
}

TEST(CpuLoweringTest, AValueThatIsReadAndGivenOutIsMadeOnce) {
  OnnxBuilder model(13);
  model.Input("x", {"N", 4})
      .Node("Neg", {"x"}, {"y"})
      .Node("Neg", {"y"}, {"z"})
      .Output("y", {"N", 4})
      .Output("z", {"N", 4});
  const TestModel imported = Import(model, 4);
  auto bound = ops::Bind(*imported.graph, imported.signature, 1, {});
  ASSERT_THAT(bound, IsOk());
  Weights weights(*imported.graph);
  auto program = Lower(*bound, OneDnn::Create().value(), weights, {});
  ASSERT_THAT(program, IsOk());
  EXPECT_EQ(program->plan.steps.size(), 2);
  EXPECT_EQ(program->plan.arena_bytes, 0);
}

TEST(CpuLoweringTest, WorkCountsMultiplications) {
  const TestModel model = Import(ConvNet(), 4);
  const auto work = [&](int rows) {
    return EstimateWork(
        ops::Bind(*model.graph, model.signature, rows, {}).value());
  };
  // conv1 alone: 8 filters of 27 taps at 144 places.
  EXPECT_GT(work(1), 8 * 27 * 144);
  EXPECT_EQ(work(4), 4 * work(1));
}

TEST(CpuLoweringTest, WorkOfAProductIsItsSumsLengthWhateverTheRows) {
  OnnxBuilder model(13);
  model.Input("x", {"N", 16})
      .Floats("w", {16, 8}, Noise(128, 1))
      .Floats("v", {4, 8}, Noise(32, 2))
      .Node("MatMul", {"x", "w"}, {"h"})
      .Node("Gemm", {"h", "v"}, {"y"})
      .Int("transB", 1)
      .Output("y", {"N", 4});
  const TestModel imported = Import(model, 100);
  EXPECT_EQ(
      EstimateWork(
          ops::Bind(*imported.graph, imported.signature, 100, {}).value()),
      100 * (8 * 16 + 4 * 8));
}

TEST(CpuLoweringTest, TablesAreCountedBeforeTheyAreMade) {
  OnnxBuilder model(13);
  model.Input("x", {"N", 4})
      .Int64s("pads", {4}, {0, 0, 0, 1000})
      .Node("Pad", {"x", "pads"}, {"y"})
      .Output("y", {"N", 1004});
  const TestModel imported = Import(model, 1);
  const auto bound =
      ops::Bind(*imported.graph, imported.signature, 1, {}).value();
  auto dnn = OneDnn::Create();
  ASSERT_THAT(dnn, IsOk());
  Weights weights(*imported.graph);
  const auto lower = [&](int64_t bytes) {
    TableBudget tables(bytes);
    return Lower(bound, *dnn, weights, {.tables = &tables}).status();
  };
  EXPECT_THAT(lower(8 * (1 + 1004)), IsOk());
  EXPECT_THAT(lower(8 * 1004),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("Pad")));
}

TEST(CpuLoweringTest, WorkThatIsAbsurdIsRefusedWithTheNode) {
  // oneDNN would take the first, the plain loop the second.
  for (const int64_t width : {int64_t{1024}, int64_t{0x7fffffff}}) {
    OnnxBuilder model(13);
    model.Input("x", {"N", 1, 1024, 1024})
        .Node("MaxPool", {"x"}, {"y"}, "pool")
        .Ints("kernel_shape", {1024, width})
        .String("auto_pad", "SAME_LOWER")
        .Output("y", {"N", 1, 1024, 1024});
    const TestModel imported = Import(model, 1);
    const auto bound =
        ops::Bind(*imported.graph, imported.signature, 1, {}).value();
    auto dnn = OneDnn::Create();
    ASSERT_THAT(dnn, IsOk());
    Weights weights(*imported.graph);
    EXPECT_THAT(
        Lower(bound, *dnn, weights, {}),
        StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("pool")));
  }
}

TEST(CpuLoweringTest, AWindowThatIsMostlyPaddingIsPassedOver) {
  OnnxBuilder model(13);
  model.Input("x", {"N", 3, 8, 8})
      .Node("MaxPool", {"x"}, {"y"})
      .Ints("kernel_shape", {2, 0x7fffffff})
      .String("auto_pad", "SAME_LOWER")
      .Output("y", {"N", 3, 8, 8});
  const Result result =
      RunModel(Import(model, 1), 1, /*fuse=*/false, /*use_onednn=*/true);
  ASSERT_EQ(result.y.size(), 192);
  // Each row's maximum, and the row's above it.
  const std::vector<float> x = Noise(192, 42);
  EXPECT_EQ(result.y[0], *std::max_element(x.begin(), x.begin() + 8));
  EXPECT_EQ(result.y[15], *std::max_element(x.begin(), x.begin() + 16));
}

}  // namespace
}  // namespace reprise::cpu
