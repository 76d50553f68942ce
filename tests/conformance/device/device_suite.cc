#include "tests/conformance/device/device_suite.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "runtime/base/thread.h"
#include "runtime/onnx/importer.h"
#include "runtime/ops/infer_signature.h"
#include "tests/testing/status_matchers.h"

namespace reprise::conformance {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::OnnxBuilder;
using ::reprise::testing::StatusIs;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// y = x * 2 + 1, row by row.
OnnxBuilder Affine() {
  OnnxBuilder model(13);
  model.Input("x", {"N", 3})
      .Floats("two", {}, {2})
      .Floats("one", {}, {1})
      .Node("Mul", {"x", "two"}, {"h"})
      .Node("Add", {"h", "one"}, {"y"})
      .Output("y", {"N", 3});
  return model;
}

std::span<float> Floats(Slot& slot, int k) {
  const std::span<std::byte> bytes = slot.input(k);
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

std::vector<float> Result(const Slot& slot, int k, size_t count) {
  std::vector<float> values(count);
  std::memcpy(values.data(), slot.output(k).data(), count * sizeof(float));
  return values;
}

// Waits through wake-ups; what a worker does in the end.
absl::StatusOr<RunTimes> WaitDone(Executable& executable, Slot& slot) {
  for (;;) {
    absl::StatusOr<RunTimes> times =
        executable.Wait(slot, absl::InfiniteFuture());
    if (!absl::IsAborted(times.status())) return times;
  }
}

}  // namespace

void DeviceSuite::SetUp() {
  auto device = GetParam().make(RealClock::Get());
  if (absl::IsUnavailable(device.status())) {
    GTEST_SKIP() << device.status().message();
  }
  ASSERT_THAT(device, IsOk());
  device_ = *std::move(device);
}

absl::StatusOr<std::unique_ptr<Executable>> DeviceSuite::Prepare(
    const OnnxBuilder& model, const std::vector<int>& ladder,
    const VariantKey& dims, int lane) {
  auto graph = onnx_import::ImportModel(model.Bytes(), {});
  if (!graph.ok()) return graph.status();
  auto inferred = ops::InferSignature(*graph, {});
  if (!inferred.ok()) return inferred.status();
  inferred->signature.max_batch = ladder.back();
  auto loaded = device_->Load(std::make_shared<graph::Graph>(*std::move(graph)),
                              inferred->signature, {.model = "suite/1"});
  if (!loaded.ok()) return loaded.status();
  models_.push_back(*std::move(loaded));
  return models_.back()->Prepare(dims, ladder, lane);
}

TEST_P(DeviceSuite, DescribesWhatItPrepared) {
  const DeviceMemory memory = device_->memory();
  EXPECT_GT(memory.total, 0);
  EXPECT_LE(memory.free, memory.total);
  auto executable = Prepare(Affine(), {1, 2, 4});
  ASSERT_THAT(executable, IsOk());
  const Signature& signature = (*executable)->signature();
  EXPECT_TRUE(signature.batched);
  EXPECT_EQ(signature.inputs[0].name, "x");
  EXPECT_EQ(signature.outputs[0].dims, Dims{3});
  const Ladder& ladder = (*executable)->ladder();
  ASSERT_EQ(ladder.size(), 3);
  EXPECT_EQ(ladder[2].rows, 4);
  for (const Rung& rung : ladder) {
    EXPECT_GT(rung.p50, absl::ZeroDuration());
    EXPECT_GE(rung.p999, rung.p50);
  }
  EXPECT_GE(models_[0]->weight_bytes(), 0);
}

TEST_P(DeviceSuite, RunsAnyNumberOfRows) {
  auto executable = Prepare(Affine(), {1, 2, 4});
  ASSERT_THAT(executable, IsOk());
  for (int rows = 1; rows <= 4; ++rows) {
    SlotLease slot = (*executable)->AcquireSlot();
    ASSERT_TRUE(slot);
    const std::span<float> x = Floats(*slot, 0);
    ASSERT_EQ(x.size(), 12);
    for (int i = 0; i < rows * 3; ++i) x[i] = static_cast<float>(i + rows);
    ASSERT_THAT((*executable)->Submit(*slot, rows), IsOk());
    ASSERT_THAT(WaitDone(**executable, *slot), IsOk());
    const std::vector<float> y = Result(*slot, 0, rows * 3);
    for (int i = 0; i < rows * 3; ++i) {
      EXPECT_EQ(y[i], static_cast<float>(2 * (i + rows) + 1));
    }
  }
}

TEST_P(DeviceSuite, PaddingRowsAreDefined) {
  auto executable = Prepare(Affine(), {4});
  ASSERT_THAT(executable, IsOk());
  SlotLease slot = (*executable)->AcquireSlot();
  const std::span<float> x = Floats(*slot, 0);
  std::fill(x.begin(), x.end(), kNan);  // what a former batch left behind
  std::fill_n(x.begin(), 3, 5.0F);
  std::fill_n(x.begin() + 3, 3, 6.0F);
  ASSERT_THAT((*executable)->Submit(*slot, 2), IsOk());
  ASSERT_THAT(WaitDone(**executable, *slot), IsOk());
  EXPECT_THAT(Result(*slot, 0, 6), ElementsAre(11, 11, 11, 13, 13, 13));
  if (!GetParam().shows_padding) return;
  // Padding is a copy of row 0, so every output row is a number.
  EXPECT_THAT(Result(*slot, 0, 12),
              ElementsAre(11, 11, 11, 13, 13, 13, 11, 11, 11, 11, 11, 11));
}

TEST_P(DeviceSuite, RefusesRowsThatNoRungHolds) {
  auto executable = Prepare(Affine(), {1, 4});
  ASSERT_THAT(executable, IsOk());
  SlotLease slot = (*executable)->AcquireSlot();
  EXPECT_THAT((*executable)->Submit(*slot, 5),
              StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT((*executable)->Submit(*slot, 0),
              StatusIs(absl::StatusCode::kOutOfRange));
}

TEST_P(DeviceSuite, RefusesRowsThatDependOnEachOther) {
  // Every row minus the largest value of the batch. The signature claims what
  // following the batch denies; whether a device finds that by the rules or by
  // trial is its own affair.
  OnnxBuilder model(13);
  model.Input("x", {"N", 3})
      .Node("ReduceMax", {"x"}, {"m"})
      .Int("keepdims", 1)
      .Node("Sub", {"x", "m"}, {"y"})
      .Output("y", {"N", 3});
  auto graph = onnx_import::ImportModel(model.Bytes(), {});
  ASSERT_THAT(graph, IsOk());
  Signature signature;
  signature.batched = true;
  signature.max_batch = 4;
  signature.inputs = {{.name = "x", .dims = {3}, .symbols = {""}}};
  signature.outputs = {{.name = "y", .dims = {3}, .symbols = {""}}};
  auto loaded = device_->Load(std::make_shared<graph::Graph>(*graph), signature,
                              {.model = "suite/1"});
  ASSERT_THAT(loaded, IsOk());
  EXPECT_THAT((*loaded)->Prepare({}, {1, 4}, 0),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_P(DeviceSuite, BindsAVariant) {
  OnnxBuilder model(13);
  model.Input("x", {"N", "length"})
      .Node("Relu", {"x"}, {"y"})
      .Output("y", {"N", "length"});
  auto executable = Prepare(model, {1, 2}, {5});
  ASSERT_THAT(executable, IsOk());
  EXPECT_EQ((*executable)->signature().inputs[0].dims, Dims{5});
  EXPECT_EQ((*executable)->signature().outputs[0].dims, Dims{5});
  EXPECT_TRUE((*executable)->signature().free_symbols.empty());
  EXPECT_THAT(models_[0]->Prepare({}, {1, 2}, 0),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_P(DeviceSuite, RunsAModelWithoutABatch) {
  OnnxBuilder model(13);
  model.Input("x", {2, 2})
      .Node("ReduceSum", {"x"}, {"y"})
      .Int("keepdims", 0)
      .Output("y", {});
  auto executable = Prepare(model, {1});
  ASSERT_THAT(executable, IsOk());
  EXPECT_FALSE((*executable)->signature().batched);
  SlotLease slot = (*executable)->AcquireSlot();
  const std::span<float> x = Floats(*slot, 0);
  std::fill(x.begin(), x.end(), 1.5F);
  ASSERT_THAT((*executable)->Submit(*slot, 1), IsOk());
  ASSERT_THAT(WaitDone(**executable, *slot), IsOk());
  EXPECT_THAT(Result(*slot, 0, 1), ElementsAre(6));
}

TEST_P(DeviceSuite, SlotsRunOutAndComeBackFromAnotherThread) {
  auto executable = Prepare(Affine(), {1, 2});
  ASSERT_THAT(executable, IsOk());
  std::vector<SlotLease> leases;
  const int all = (*executable)->free_slots();
  for (;;) {
    SlotLease lease = (*executable)->AcquireSlot();
    if (!lease) break;
    leases.push_back(std::move(lease));
    ASSERT_LT(leases.size(), 100) << "the pool has no bound";
  }
  EXPECT_GE(leases.size(), 2);
  EXPECT_EQ(leases.size(), all);
  EXPECT_EQ((*executable)->free_slots(), 0);
  Thread("releaser", [&] { leases.pop_back(); }).Join();
  EXPECT_EQ((*executable)->free_slots(), 1);
  SlotLease again = (*executable)->AcquireSlot();
  EXPECT_TRUE(again);
  EXPECT_FALSE((*executable)->AcquireSlot());
}

TEST_P(DeviceSuite, QueuedBatchesAllRun) {
  auto executable = Prepare(Affine(), {1, 2});
  ASSERT_THAT(executable, IsOk());
  SlotLease first = (*executable)->AcquireSlot();
  SlotLease second = (*executable)->AcquireSlot();
  std::ranges::fill(Floats(*first, 0), 1.0F);
  std::ranges::fill(Floats(*second, 0), 2.0F);
  ASSERT_THAT((*executable)->Submit(*first, 2), IsOk());
  ASSERT_THAT((*executable)->Submit(*second, 1), IsOk());
  ASSERT_THAT(WaitDone(**executable, *second), IsOk());
  ASSERT_THAT(WaitDone(**executable, *first), IsOk());
  EXPECT_THAT(Result(*first, 0, 6), Each(3.0F));
  EXPECT_THAT(Result(*second, 0, 3), Each(5.0F));
}

TEST_P(DeviceSuite, WaitEndsByDeadlineAndByWakeAndMayBeRepeated) {
  auto executable = Prepare(Affine(), {1});
  ASSERT_THAT(executable, IsOk());
  SlotLease slot = (*executable)->AcquireSlot();
  std::ranges::fill(Floats(*slot, 0), 1.0F);
  for (int i = 0; i < 50; ++i) {
    ASSERT_THAT((*executable)->Submit(*slot, 1), IsOk());
    absl::StatusOr<RunTimes> times =
        (*executable)->Wait(*slot, absl::InfinitePast());
    if (!times.ok()) {
      ASSERT_THAT(times, StatusIs(absl::StatusCode::kDeadlineExceeded));
      device_->Wake();
      times = (*executable)->Wait(*slot, absl::InfiniteFuture());
    }
    if (!times.ok()) {
      ASSERT_THAT(times, StatusIs(absl::StatusCode::kAborted));
      times = (*executable)->Wait(*slot, absl::InfiniteFuture());
    }
    ASSERT_THAT(times, IsOk());
    EXPECT_GE(times->graph, absl::ZeroDuration());
    EXPECT_THAT(Result(*slot, 0, 3), Each(3.0F));
  }
}

TEST_P(DeviceSuite, LanesRunBesideEachOther) {
  auto first = Prepare(Affine(), {1, 2}, {}, 0);
  ASSERT_THAT(first, IsOk());
  auto second = models_[0]->Prepare({}, {1, 2}, 1);
  ASSERT_THAT(second, IsOk());
  SlotLease a = (*first)->AcquireSlot();
  SlotLease b = (*second)->AcquireSlot();
  std::ranges::fill(Floats(*a, 0), 1.0F);
  std::ranges::fill(Floats(*b, 0), 2.0F);
  ASSERT_THAT((*first)->Submit(*a, 1), IsOk());
  ASSERT_THAT((*second)->Submit(*b, 2), IsOk());
  ASSERT_THAT(WaitDone(**second, *b), IsOk());
  ASSERT_THAT(WaitDone(**first, *a), IsOk());
  EXPECT_THAT(Result(*a, 0, 3), Each(3.0F));
  EXPECT_THAT(Result(*b, 0, 6), Each(5.0F));
}

TEST_P(DeviceSuite, NamesTheNodeWhoseDimsDoNotFit) {
  OnnxBuilder model(13);
  model.Input("x", {"N", "length"})
      .Floats("w", {3, 2}, {1, 2, 3, 4, 5, 6})
      .Node("MatMul", {"x", "w"}, {"y"}, "project")
      .Output("y", {"N", 2});
  auto graph = onnx_import::ImportModel(model.Bytes(), {});
  ASSERT_THAT(graph, IsOk());
  Signature signature;
  signature.batched = true;
  signature.inputs = {{.name = "x", .dims = {kFreeDim}, .symbols = {"length"}}};
  signature.outputs = {{.name = "y", .dims = {2}, .symbols = {""}}};
  signature.free_symbols = {"length"};
  auto loaded = device_->Load(std::make_shared<graph::Graph>(*graph), signature,
                              {.model = "suite/1"});
  ASSERT_THAT(loaded, IsOk());
  EXPECT_THAT(
      (*loaded)->Prepare({4}, {1}, 0),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("project")));
  EXPECT_THAT((*loaded)->Prepare({3}, {1}, 0), IsOk());
}

}  // namespace reprise::conformance
