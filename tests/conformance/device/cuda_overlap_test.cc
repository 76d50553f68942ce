// Proof by event times that copies overlap computation, on the first GPU that
// can be used; skipped, with the reason, where there is none.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "runtime/base/clock.h"
#include "runtime/device/device.h"
#include "runtime/onnx/importer.h"
#include "runtime/ops/infer_signature.h"
#include "tests/testing/first_gpu.h"
#include "tests/testing/onnx_builder.h"
#include "tests/testing/status_matchers.h"

namespace reprise::conformance {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::OnnxBuilder;

constexpr int kRows = 32;
constexpr int64_t kPixels = int64_t{3} * 224 * 224;
constexpr int kNodes = 60;
constexpr int kBatches = 12;

// Copies 19.3 MB in, takes about as long to compute as that takes, and copies a
// few bytes back.
OnnxBuilder Images() {
  OnnxBuilder model(13);
  model.Input("x", {"N", kPixels});
  std::string last = "x";
  for (int i = 0; i < kNodes; ++i) {
    const std::string next = absl::StrCat("h", i);
    model.Node(i % 2 == 0 ? "Neg" : "Abs", {last}, {next});
    last = next;
  }
  model.Node("ReduceMax", {last}, {"y"}).Ints("axes", {1}).Int("keepdims", 1);
  model.Output("y", {"N", 1});
  return model;
}

class CudaOverlapTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto device = testing::MakeFirstGpuDevice(RealClock::Get());
    if (absl::IsUnavailable(device.status())) {
      GTEST_SKIP() << device.status().message();
    }
    ASSERT_THAT(device, IsOk());
    device_ = *std::move(device);
    auto graph = onnx_import::ImportModel(Images().Bytes(), {});
    ASSERT_THAT(graph, IsOk());
    auto inferred = ops::InferSignature(*graph, {});
    ASSERT_THAT(inferred, IsOk());
    inferred->signature.max_batch = kRows;
    auto model = device_->Load(
        std::make_shared<graph::Graph>(*std::move(graph)), inferred->signature,
        {.model = "images/1", .fusions_off = {std::string(kAllFusions)}});
    ASSERT_THAT(model, IsOk());
    model_ = *std::move(model);
    auto executable = model_->Prepare({}, {kRows}, /*lane=*/0);
    ASSERT_THAT(executable, IsOk());
    executable_ = *std::move(executable);
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<LoadedModel> model_;
  std::unique_ptr<Executable> executable_;
};

// Batches are given to the lane as soon as there is a slot, as a busy worker
// does. From the begin of the first graph to the end of the last one all other
// batches are copied in: what those copies and the graphs take together beyond
// that time is what they overlap by.
TEST_F(CudaOverlapTest, TheNextBatchIsCopiedInWhileThisOneRuns) {
  std::vector<SlotLease> flying;
  std::vector<RunTimes> runs;
  const auto finish = [&] {
    const absl::StatusOr<RunTimes> times =
        executable_->Wait(*flying.front(), absl::InfiniteFuture());
    ASSERT_THAT(times, IsOk());
    ASSERT_TRUE(times->graph_begun.has_value());
    flying.erase(flying.begin());
    runs.push_back(*times);
  };
  for (int i = 0; i < kBatches; ++i) {
    if (flying.size() == 3) {
      ASSERT_NO_FATAL_FAILURE(finish());
    }
    flying.push_back(executable_->AcquireSlot());
    ASSERT_TRUE(flying.back());
    ASSERT_THAT(executable_->Submit(*flying.back(), kRows), IsOk());
  }
  while (!flying.empty()) {
    ASSERT_NO_FATAL_FAILURE(finish());
  }

  absl::Duration copied;
  absl::Duration graphs = runs[0].graph;
  for (size_t i = 1; i < runs.size(); ++i) {
    EXPECT_GE(*runs[i].graph_begun,
              *runs[i - 1].graph_begun + runs[i - 1].graph);
    copied += runs[i].copy_in;
    graphs += runs[i].graph;
  }
  const absl::Duration wall =
      *runs.back().graph_begun + runs.back().graph - *runs[0].graph_begun;
  const absl::Duration hidden = copied + graphs - wall;
  std::printf(
      "%d batches in %s: graphs %s, copies in %s, of which %s overlap\n",
      kBatches, absl::FormatDuration(wall).c_str(),
      absl::FormatDuration(graphs).c_str(),
      absl::FormatDuration(copied).c_str(),
      absl::FormatDuration(hidden).c_str());
  EXPECT_GT(hidden, std::min(copied, graphs) / 2);
}

}  // namespace
}  // namespace reprise::conformance
