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

struct Span {
  absl::Duration begin;
  absl::Duration end;
};

absl::Duration Common(const Span& a, const Span& b) {
  return std::max(absl::ZeroDuration(),
                  std::min(a.end, b.end) - std::max(a.begin, b.begin));
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
    // With a second lane there is one time line for all.
    for (const int lane : {0, 1}) {
      auto executable = model_->Prepare({}, {kRows}, lane);
      ASSERT_THAT(executable, IsOk());
      lanes_.push_back(*std::move(executable));
    }
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<LoadedModel> model_;
  std::vector<std::unique_ptr<Executable>> lanes_;
};

// Batches are given to one lane as soon as there is a slot, as a busy worker
// does.
TEST_F(CudaOverlapTest, TheNextBatchIsCopiedInWhileThisOneRuns) {
  Executable& executable = *lanes_[0];
  std::vector<SlotLease> flying;
  std::vector<Span> copies;
  std::vector<Span> graphs;
  const auto finish = [&] {
    const absl::StatusOr<RunTimes> times =
        executable.Wait(*flying.front(), absl::InfiniteFuture());
    ASSERT_THAT(times, IsOk());
    flying.erase(flying.begin());
    ASSERT_TRUE(times->graph_begun.has_value());
    ASSERT_TRUE(times->copy_in_begun.has_value());
    graphs.push_back({*times->graph_begun, *times->graph_begun + times->graph});
    copies.push_back(
        {*times->copy_in_begun, *times->copy_in_begun + times->copy_in});
  };
  for (int i = 0; i < kBatches; ++i) {
    if (flying.size() == 3) {
      ASSERT_NO_FATAL_FAILURE(finish());
    }
    flying.push_back(executable.AcquireSlot());
    ASSERT_TRUE(flying.back());
    ASSERT_THAT(executable.Submit(*flying.back(), kRows), IsOk());
  }
  while (!flying.empty()) {
    ASSERT_NO_FATAL_FAILURE(finish());
  }

  absl::Duration copied;
  absl::Duration hidden;
  for (size_t i = 1; i < copies.size(); ++i) {
    EXPECT_GE(graphs[i].begin, copies[i].end - absl::Microseconds(2)) << i;
    EXPECT_GE(graphs[i].begin, graphs[i - 1].end - absl::Microseconds(2)) << i;
    copied += copies[i].end - copies[i].begin;
    hidden += Common(copies[i], graphs[i - 1]);
  }
  const absl::Duration wall = graphs.back().end - copies.front().begin;
  std::printf(
      "%d batches in %s: copied in for %s, of which %s while the batch "
      "before ran; graphs %s each\n",
      kBatches, absl::FormatDuration(wall).c_str(),
      absl::FormatDuration(copied).c_str(),
      absl::FormatDuration(hidden).c_str(),
      absl::FormatDuration(graphs[1].end - graphs[1].begin).c_str());
  EXPECT_GT(hidden, copied / 2);
}

}  // namespace
}  // namespace reprise::conformance
