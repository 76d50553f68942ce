#include "runtime/worker/load_pipeline.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/model/tiny_models.h"
#include "tests/runtime/worker/recording_worker.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::RecordingWorker;
using ::reprise::testing::ReluModel;
using ::reprise::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

ImportedVersion Import(const std::string& json) {
  const LoaderOptions options;
  const auto source = SourceFromFiles("m", {{"1/model.onnx", ReluModel()}});
  EXPECT_THAT(source, IsOk());
  const auto definition = ReadDefinition(*source, json, options);
  EXPECT_THAT(definition, IsOk());
  auto imported =
      ImportVersion(*source, 1, *definition, options, DeviceMemory());
  EXPECT_THAT(imported, IsOk());
  return *std::move(imported);
}

constexpr char kWarmup[] = R"({"max_batch_size": 4, "model_warmup": [
    {"name": "first", "batch_size": 2, "count": 3, "inputs": {"x":
        {"data_type": "TYPE_FP32", "dims": [4], "zero_data": true}}}]})";

class LoadPipelineTest : public ::testing::Test {
 protected:
  absl::StatusOr<ModelHandle> Serve(const std::string& json) {
    auto loaded =
        ServeVersion(Import(json), 7, {&worker_}, reaper_, RealClock::Get());
    if (!loaded.ok()) return loaded.status();
    prepared_ = loaded->prepared;
    return std::move(loaded->handle);
  }

  RecordingWorker worker_;
  ModelReaper reaper_{[](const ModelVersion&) {}};
  std::string prepared_;
};

TEST_F(LoadPipelineTest, AddsAndWarmsUpBeforeItReturns) {
  auto handle = Serve(kWarmup);
  ASSERT_THAT(handle, IsOk());
  EXPECT_EQ((*handle)->name(), "m");
  EXPECT_EQ((*handle)->version(), 1);
  EXPECT_EQ((*handle)->uid(), 7U);
  EXPECT_EQ(prepared_, "ladder=\"1,2,4\"");
  EXPECT_THAT(worker_.added(), ElementsAre(7));
  EXPECT_THAT(worker_.offered(), ElementsAre(7, 7, 7));
  EXPECT_EQ(worker_.warmups(), 3);
  EXPECT_EQ(worker_.fake().live_models(), 1);
  handle->reset();
  reaper_.AwaitGone(7);
  EXPECT_EQ(worker_.fake().live_models(), 0);
}

TEST_F(LoadPipelineTest, AWarmupThatFailsUnloadsTheVersion) {
  worker_.FailRun(absl::InternalError("division by zero"));
  EXPECT_THAT(Serve(kWarmup), StatusIs(absl::StatusCode::kInternal,
                                       AllOf(HasSubstr("model_warmup 'first'"),
                                             HasSubstr("division"))));
  reaper_.AwaitGone(7);
  EXPECT_THAT(worker_.removed(), ElementsAre(7));
  EXPECT_EQ(worker_.fake().live_models(), 0);
}

TEST_F(LoadPipelineTest, AWarmupThatIsNotAcceptedFailsToo) {
  worker_.FailOffer(absl::UnavailableError("stopping"));
  EXPECT_THAT(Serve(kWarmup), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(LoadPipelineTest, AFailedPrepareAddsNothing) {
  worker_.fake().FailPrepare({}, absl::ResourceExhaustedError("arena"));
  EXPECT_THAT(Serve("{}"), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(worker_.added(), IsEmpty());
  EXPECT_EQ(worker_.fake().live_models(), 0);
}

TEST_F(LoadPipelineTest, EveryWorkerServesAModelOfTheCpu) {
  RecordingWorker other;
  ModelConfig config;
  config.devices = {5};  // GPUs; these are none
  EXPECT_TRUE(IsPlacedOn(config, worker_));
  const auto placed = PlaceModel(config, {&worker_, &other});
  ASSERT_THAT(placed, IsOk());
  EXPECT_THAT(*placed, ElementsAre(&worker_, &other));
  EXPECT_THAT(PlaceModel(config, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("instance_group.gpus")));
}

TEST_F(LoadPipelineTest, AModelThatNamesGpusIsPlacedOnThem) {
  RecordingWorker zero(0);
  RecordingWorker one(1);
  ModelConfig config;
  EXPECT_THAT(PlaceModel(config, {&zero, &one}),
              IsOkAndHolds(ElementsAre(&zero, &one)));
  config.devices = {1};
  EXPECT_FALSE(IsPlacedOn(config, zero));
  EXPECT_THAT(PlaceModel(config, {&zero, &one}),
              IsOkAndHolds(ElementsAre(&one)));
  config.devices = {2};
  EXPECT_THAT(PlaceModel(config, {&zero, &one}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("2")));
}

TEST_F(LoadPipelineTest, TheStepsOfALoadAreLogged) {
  LoadSteps& steps = worker_.fake().load_steps();
  const auto run = [&](LoadStep step) {
    EXPECT_THAT(steps.Run(step, [] { return absl::OkStatus(); }), IsOk());
  };
  run(LoadStep::kUpload);  // of another load
  worker_.fake().OnPrepare([&] {
    run(LoadStep::kReplay);
    run(LoadStep::kReplay);
    run(LoadStep::kMapMemory);
  });
  ::testing::internal::CaptureStderr();
  EXPECT_THAT(Serve("{}"), IsOk());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("load steps model=m/1 device=0 replay=2 "
                              "replay_longest_seconds="),
                    HasSubstr(" map_memory=1 map_memory_longest_seconds="),
                    Not(HasSubstr("upload="))));
}

}  // namespace
}  // namespace reprise
