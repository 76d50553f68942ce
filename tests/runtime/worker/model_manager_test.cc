#include "runtime/worker/model_manager.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/thread.h"
#include "tests/runtime/worker/manager_fixture.h"
#include "tests/runtime/worker/recording_worker.h"

namespace reprise {
namespace {

using ::reprise::testing::FakeDeviceOptions;
using ::reprise::testing::FakeRun;
using ::reprise::testing::FreeDimModel;
using ::reprise::testing::IsOk;
using ::reprise::testing::Lines;
using ::reprise::testing::ManagerFixture;
using ::reprise::testing::OnnxBuilder;
using ::reprise::testing::RecordingWorker;
using ::reprise::testing::ReluModel;
using ::reprise::testing::RowTask;
using ::reprise::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
constexpr auto kInternal = absl::StatusCode::kInternal;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kNotFound = absl::StatusCode::kNotFound;
constexpr auto kUnavailable = absl::StatusCode::kUnavailable;

class ModelManagerTest : public ManagerFixture {};

TEST_F(ModelManagerTest, BadOptionsAreRefused) {
  EXPECT_THAT(
      ModelManager::Create({}, {worker_.get()}, registry_, clock_, metrics_),
      StatusIs(kInvalid, HasSubstr("--model-repository")));
}

TEST_F(ModelManagerTest, ModeNoneLoadsAllAndABadModelDisturbsNoOther) {
  WriteModel("a");
  WriteModel("b", "max_batch_size: 2");
  repo_.Write("bad/1/model.onnx", "no model");
  repo_.Write("broken/config.pbtxt", "max_batch_size: {\n");
  options_.mode = ControlMode::kNone;
  ModelManager& manager = Start();
  EXPECT_THAT(start_status_,
              StatusIs(kInternal, AllOf(HasSubstr("model 'bad': version 1"),
                                        HasSubstr("\nmodel 'broken': "),
                                        HasSubstr("line 1:"))));
  EXPECT_THAT(Infer("a"), IsOk());
  EXPECT_THAT(Infer("b"), IsOk());
  EXPECT_THAT(Infer("bad"), StatusIs(kNotFound));
  EXPECT_THAT(Infer("bad", "1"), StatusIs(kUnavailable));
  EXPECT_THAT(
      Lines(manager.Index()),
      ElementsAre("a/1 READY", "b/1 READY", StartsWith("bad/1 UNAVAILABLE: "),
                  StartsWith("broken/ UNAVAILABLE: config.pbtxt")));
  EXPECT_FALSE(manager.Ready());
  EXPECT_EQ(Gauge("reprise_model_ready", "a", "1"), 1);
  EXPECT_EQ(Gauge("reprise_model_ready", "bad", "1"), 0);
  EXPECT_GE(Gauge("reprise_model_load_seconds", "a", "1"), 0);
  EXPECT_THAT(manager.Load("a", {}), StatusIs(kUnavailable));
  EXPECT_THAT(manager.Unload("a"), StatusIs(kUnavailable));
}

TEST_F(ModelManagerTest, AModelIsKnownBeforeItsTurnToLoadComes) {
  WriteModel("a");
  repo_.Write("a/2/model.onnx", ReluModel());
  repo_.Write("a/config.pbtxt", "version_policy { all {} }");
  WriteModel("b");
  options_.mode = ControlMode::kNone;
  fake_.HoldPrepare(true);
  {
    const Thread start("start", [this] { Start(); });
    fake_.AwaitPrepares(1);
    EXPECT_THAT(Lines(registry_.Index()),
                ElementsAre("a/1 LOADING", "a/2 LOADING", "b/ LOADING"));
    EXPECT_THAT(registry_.Acquire("b", "1"),
                StatusIs(kUnavailable, HasSubstr("LOADING")));
    fake_.HoldPrepare(false);
  }
  EXPECT_THAT(Lines(registry_.Index()),
              ElementsAre("a/1 READY", "a/2 READY", "b/1 READY"));
}

TEST_F(ModelManagerTest, SeveralThreadsMayLoadAtStart) {
  for (const char* name : {"a", "b", "c", "d", "e"}) WriteModel(name);
  options_.mode = ControlMode::kNone;
  options_.load_threads = 3;
  EXPECT_TRUE(Start().Ready());
  EXPECT_THAT(start_status_, IsOk());
  EXPECT_EQ(fake_.live_models(), 5);
}

TEST_F(ModelManagerTest, ExplicitModeLoadsWhatIsNamed) {
  WriteModel("a");
  WriteModel("b");
  options_.load_models = {"a"};
  ModelManager& manager = Start();
  EXPECT_THAT(start_status_, IsOk());
  EXPECT_TRUE(manager.Ready());
  EXPECT_THAT(Lines(manager.Index()), ElementsAre("a/1 READY", "b/ UNKNOWN"));
  EXPECT_THAT(manager.Load("b", {}), IsOk());
  EXPECT_THAT(Infer("b"), IsOk());
  EXPECT_THAT(Lines(manager.Index()), ElementsAre("a/1 READY", "b/1 READY"));
}

TEST_F(ModelManagerTest, AStarNamesAll) {
  WriteModel("a");
  WriteModel("b");
  options_.load_models = {"*"};
  EXPECT_TRUE(Start().Ready());
  EXPECT_THAT(Lines(manager_->Index()), ElementsAre("a/1 READY", "b/1 READY"));
}

TEST_F(ModelManagerTest, OnlyRequiredModelsCountForReadiness) {
  WriteModel("a");
  repo_.Write("bad/1/model.onnx", "no model");
  options_.load_models = {"a"};
  ModelManager& manager = Start();
  EXPECT_THAT(manager.Load("bad", {}), StatusIs(kInternal));
  EXPECT_TRUE(manager.Ready());
  EXPECT_THAT(manager.Unload("a"), IsOk());
  EXPECT_TRUE(manager.Ready());
}

TEST_F(ModelManagerTest, ARequiredModelThatIsMissingKeepsTheServerFromReady) {
  options_.load_models = {"later"};
  ModelManager& manager = Start();
  EXPECT_THAT(start_status_, StatusIs(kInternal, HasSubstr("'later'")));
  EXPECT_FALSE(manager.Ready());
  EXPECT_THAT(Lines(manager.Index()),
              ElementsAre(StartsWith("later/ UNAVAILABLE: no folder")));
  WriteModel("later");
  EXPECT_THAT(manager.Load("later", {}), IsOk());
  EXPECT_TRUE(manager.Ready());
}

TEST_F(ModelManagerTest, RelaxedReadinessDoesNotWaitForModels) {
  options_.load_models = {"missing"};
  options_.strict_readiness = false;
  EXPECT_TRUE(Start().Ready());
}

TEST_F(ModelManagerTest, AStuckWorkerEndsReadiness) {
  RecordingWorker worker;
  prometheus::Registry metrics;
  const auto manager =
      ModelManager::Create(options_, {&worker}, registry_, clock_, metrics);
  ASSERT_THAT(manager, IsOk());
  ASSERT_THAT((*manager)->LoadAtStart(), IsOk());
  EXPECT_TRUE((*manager)->Ready());
  worker.SetLoad({.outstanding = absl::Seconds(9), .stuck = true});
  EXPECT_FALSE((*manager)->Ready());
}

TEST_F(ModelManagerTest, LoadFaultsHaveTheProtocolsCodes) {
  WriteModel("a");
  repo_.Write("noversion/config.pbtxt", "max_batch_size: 8");
  repo_.Write("broken/config.pbtxt", "max_batch_size: {");
  ModelManager& manager = Start();
  ASSERT_THAT(manager.Load("a", {}), IsOk());
  for (const char* name : {"", " ", "a/b", "..", "../a", "."}) {
    EXPECT_THAT(manager.Load(name, {}), StatusIs(kInvalid)) << name;
    EXPECT_THAT(manager.Unload(name), StatusIs(kInvalid)) << name;
  }
  EXPECT_THAT(manager.Load("nope", {}),
              StatusIs(kInternal, HasSubstr("failed to load 'nope'")));
  EXPECT_THAT(manager.Load("noversion", {}),
              StatusIs(kInternal, HasSubstr("no version")));
  EXPECT_THAT(manager.Load("broken", {}),
              StatusIs(kInternal, HasSubstr("line 1:")));
  for (const char* json : {"{bad", "", R"({"max_batch_size": -3})",
                           R"({"no_such_field": 1})", R"({"name": "other"})"}) {
    EXPECT_THAT(manager.Load("a", {.config_json = json, .files = {}}),
                StatusIs(kInternal, HasSubstr("failed to load 'a'")))
        << json;
  }
  EXPECT_THAT(manager.Load("a", {.config_json = std::nullopt,
                                 .files = {{"1/model.onnx", "x"}}}),
              StatusIs(kInternal, HasSubstr("`config`")));
  EXPECT_THAT(manager.Load("a", {.config_json = "{}",
                                 .files = {{"../1/model.onnx", "x"}}}),
              StatusIs(kInvalid));
  EXPECT_THAT(Infer("a"), IsOk());  // it has served all along
  EXPECT_THAT(Lines(manager.Index()),
              ElementsAre("a/1 READY", StartsWith("broken/ UNAVAILABLE: "),
                          StartsWith("noversion/ UNAVAILABLE: ")));
}

TEST_F(ModelManagerTest, WhatDoesNotFitIsResourceExhausted) {
  WriteModel("a");
  ModelManager& manager = Start();
  fake_.FailPrepare({}, absl::ResourceExhaustedError("arena of 9 GiB"));
  EXPECT_THAT(manager.Load("a", {}),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("'a'"), HasSubstr("9 GiB"))));
  EXPECT_THAT(Lines(manager.Index()),
              ElementsAre("a/1 UNAVAILABLE: arena of 9 GiB"));
  EXPECT_EQ(fake_.live_models(), 0);
}

// The fake device has 1 GiB.
TEST_F(ModelManagerTest, WeightsThatDoNotFitLeaveTheOldVersionServing) {
  WriteModel("a");
  ModelManager& manager = Start();
  ASSERT_THAT(manager.Load("a", {}), IsOk());
  OnnxBuilder large(13);
  large.Input("x", {"N", 4})
      .Node("Relu", {"x"}, {"y"})
      .Node("ReduceSum", {"w"}, {"sum"})
      .Output("y", {"N", 4})
      .Output("sum", {1});
  onnx::TensorProto& w = *large.graph().add_initializer();
  w.set_name("w");
  w.set_data_type(OnnxBuilder::kFloat);
  w.add_dims(int64_t{1} << 29);
  w.set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto& entry = *w.add_external_data();
  entry.set_key("location");
  entry.set_value("weights.bin");
  repo_.Write("a/2/weights.bin", "");
  std::filesystem::resize_file(repo_.Path("a/2/weights.bin"),
                               uintmax_t{1} << 31);
  repo_.Write("a/2/model.onnx", large.Bytes());
  EXPECT_THAT(manager.Load("a", {}),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("2147483648 bytes"), HasSubstr("'w'"),
                             HasSubstr("1073741824 bytes of memory"))));
  EXPECT_THAT(Infer("a", "1"), IsOk());
}

TEST_F(ModelManagerTest, AConfigOverrideHoldsUntilThePlainReload) {
  WriteModel("a", "max_batch_size: 8");
  ModelManager& manager = Start();
  ASSERT_THAT(manager.Load("a", {}), IsOk());
  EXPECT_EQ(MaxBatch("a"), 8);
  ASSERT_THAT(manager.Load("a", {.config_json = R"({"max_batch_size": 4})",
                                 .files = {}}),
              IsOk());
  EXPECT_EQ(MaxBatch("a"), 4);
  EXPECT_THAT(manager.Load("a", {.config_json = "{bad", .files = {}}),
              StatusIs(kInternal));
  EXPECT_EQ(MaxBatch("a"), 4);
  ASSERT_THAT(manager.Load("a", {}), IsOk());
  EXPECT_EQ(MaxBatch("a"), 8);
}

TEST_F(ModelManagerTest, FilesOfARequestReplaceTheRepositorys) {
  ModelManager& manager = Start();
  ASSERT_THAT(manager.Load("fresh", {.config_json = R"({"max_batch_size": 2})",
                                     .files = {{"3/model.onnx", ReluModel()}}}),
              IsOk());
  EXPECT_THAT(Lines(manager.Index()), ElementsAre("fresh/3 READY"));
  EXPECT_THAT(Infer("fresh", "3"), IsOk());
  EXPECT_THAT(
      manager.Load("bad", {.config_json = "{}", .files = {{"1/x", "x"}}}),
      StatusIs(kInternal, HasSubstr("1/model.onnx")));
}

TEST_F(ModelManagerTest, UnloadReturnsWhenTheVersionHasDrained) {
  WriteModel("a");
  ModelManager& manager = Start();
  ASSERT_THAT(manager.Load("a", {}), IsOk());
  EXPECT_EQ(fake_.live_models(), 1);
  ASSERT_THAT(manager.Unload("a"), IsOk());
  EXPECT_EQ(fake_.live_models(), 0);
  EXPECT_EQ(fake_.live_executables(), 0);
  EXPECT_THAT(Lines(manager.Index()), ElementsAre("a/1 UNAVAILABLE: unloaded"));
  EXPECT_EQ(Gauge("reprise_model_ready", "a", "1"), 0);
  EXPECT_THAT(Infer("a"), StatusIs(kNotFound));
  EXPECT_THAT(Infer("a", "1"), StatusIs(kUnavailable, HasSubstr("unloaded")));
  EXPECT_THAT(manager.Unload("a"), IsOk());
  EXPECT_THAT(manager.Unload("nope"), IsOk());
  EXPECT_THAT(manager.Load("a", {}), IsOk());
  EXPECT_THAT(Infer("a"), IsOk());
}

TEST_F(ModelManagerTest, VersionsFollowThePolicy) {
  WriteModel("a");
  ModelManager& manager = Start();
  ASSERT_THAT(manager.Load("a", {}), IsOk());
  repo_.Write("a/2/model.onnx", ReluModel());
  ASSERT_THAT(manager.Load("a", {}), IsOk());
  ASSERT_THAT(manager.Unload("nope"), IsOk());
  EXPECT_THAT(Lines(manager.Index()),
              ElementsAre(StartsWith("a/1 UN"), "a/2 READY"));
  repo_.Write("a/config.pbtxt", "version_policy { all {} }");
  ASSERT_THAT(manager.Load("a", {}), IsOk());
  EXPECT_THAT(Lines(manager.Index()), ElementsAre("a/1 READY", "a/2 READY"));
  EXPECT_EQ((*registry_.Acquire("a", ""))->version(), 2);
  repo_.Write("a/3/model.onnx", "no model");
  EXPECT_THAT(manager.Load("a", {}),
              StatusIs(kInternal, HasSubstr("version 3: ")));
  EXPECT_THAT(
      Lines(manager.Index()),
      ElementsAre("a/1 READY", "a/2 READY", StartsWith("a/3 UNAVAILABLE")));
}

TEST_F(ModelManagerTest, OneModelNeedsNoRepository) {
  repo_.Write("flat/model.onnx", ReluModel());
  options_.repositories.clear();
  options_.mode = ControlMode::kNone;
  options_.model_name = "net";
  options_.model_path = repo_.Path("flat");
  EXPECT_TRUE(Start().Ready());
  EXPECT_THAT(start_status_, IsOk());
  EXPECT_THAT(Lines(manager_->Index()), ElementsAre("net/1 READY"));
}

TEST_F(ModelManagerTest, OneModelMayHaveAnotherNameInItsFolder) {
  repo_.Write("given/simple/1/model.onnx", ReluModel());
  repo_.Write("given/simple/config.pbtxt", "name: 'simple' max_batch_size: 2");
  options_.repositories.clear();
  options_.mode = ControlMode::kNone;
  options_.model_name = "net";
  options_.model_path = repo_.Path("given");
  EXPECT_TRUE(Start().Ready());
  EXPECT_THAT(Lines(manager_->Index()), ElementsAre("net/1 READY"));
  EXPECT_EQ((*registry_.Acquire("net", ""))->config().proto.name(), "net");
}

TEST_F(ModelManagerTest, OneModelThatIsNotThereIsNotReadyAndSaidOnce) {
  repo_.MakeFolder("empty");
  options_.repositories.clear();
  options_.mode = ControlMode::kNone;
  options_.model_name = "net";
  options_.model_path = repo_.Path("empty");
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(Start().Ready());
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(start_status_, StatusIs(kInternal, HasSubstr("empty")));
  const size_t said = log.find("model failed to load model=net");
  EXPECT_NE(said, std::string::npos) << log;
  EXPECT_EQ(log.find("no model in", log.find("no model in") + 1),
            std::string::npos)
      << log;
}

TEST_F(ModelManagerTest, WarmupRunsBeforeAVersionIsReady) {
  WriteModel("a",
             "max_batch_size: 4 model_warmup { name: 'w' batch_size: 3 inputs "
             "{ key: 'x' value { data_type: TYPE_FP32 dims: 4 zero_data: true "
             "} } }");
  ModelManager& manager = Start();
  const auto subscription = registry_.AddListener([&] {
    if (registry_.Acquire("a", "").ok()) {
      EXPECT_EQ(fake_.launches(), 1);
    }
  });
  ASSERT_THAT(manager.Load("a", {}), IsOk());
  ASSERT_EQ(fake_.launches(), 1);
  EXPECT_EQ(fake_.launch_log()[0].rows, 3);
}

TEST_F(ModelManagerTest, AVariantMayBeMadeOnDemand) {
  repo_.Write("a/1/model.onnx", FreeDimModel());
  repo_.Write("a/config.pbtxt", "max_batch_size: 4");
  ModelManager& manager = Start();
  ASSERT_THAT(manager.Load("a", {}), IsOk());
  const auto handle = registry_.Acquire("a", "");
  RowTask task(6);
  task.variant = {6};
  ASSERT_THAT(manager.Offer(**handle, task), IsOk());
  EXPECT_THAT(task.Await(), IsOk());
}

TEST_F(ModelManagerTest, WorkersTakeTheLeastLoad) {
  WriteModel("a");
  RecordingWorker first;
  RecordingWorker second;
  prometheus::Registry metrics;
  const auto manager = ModelManager::Create(options_, {&first, &second},
                                            registry_, clock_, metrics);
  ASSERT_THAT(manager, IsOk());
  ASSERT_THAT((*manager)->Load("a", {}), IsOk());
  first.SetLoad({.outstanding = absl::Seconds(2), .stuck = false});
  const auto handle = registry_.Acquire("a", "");
  RowTask task;
  ASSERT_THAT((*manager)->Offer(**handle, task), IsOk());
  EXPECT_THAT(first.offered(), IsEmpty());
  EXPECT_THAT(second.offered(), ElementsAre((*handle)->uid()));
  (*manager)->Cancel(**handle, task);
  EXPECT_THAT(second.cancelled(), ElementsAre((*handle)->uid()));
  EXPECT_THAT(first.cancelled(), IsEmpty());
}

TEST_F(ModelManagerTest, AfterStopNothingIsLoaded) {
  WriteModel("a");
  ModelManager& manager = Start();
  const StopResult stopped = manager.Stop(absl::InfiniteFuture());
  EXPECT_TRUE(stopped.all_answered);
  EXPECT_TRUE(stopped.loads_ended);
  EXPECT_THAT(manager.Load("a", {}), StatusIs(kUnavailable));
  EXPECT_THAT(manager.Unload("a"), StatusIs(kUnavailable));
}

TEST_F(ModelManagerTest, AHundredReloadsUnderLoadFailNoRequest) {
  WriteModel("a", "max_batch_size: 4");
  ModelManager& manager = Start();
  ASSERT_THAT(manager.Load("a", {}), IsOk());
  std::atomic<bool> done{false};
  std::atomic<int> answered{0};
  std::atomic<int> failed{0};
  {
    std::vector<Thread> callers;
    for (int i = 0; i < 3; ++i) {
      callers.emplace_back("caller", [&] {
        while (!done) {
          if (Infer("a").ok()) {
            ++answered;
          } else {
            ++failed;
          }
        }
      });
    }
    for (int i = 0; i < 100; ++i) EXPECT_THAT(manager.Load("a", {}), IsOk());
    done = true;
  }
  EXPECT_EQ(failed, 0);
  EXPECT_GT(answered, 0);
  ASSERT_THAT(manager.Unload("a"), IsOk());
  // Versions that were replaced leave on the reaper's thread, in turn.
  manager_.reset();
  EXPECT_EQ(fake_.live_models(), 0);
  EXPECT_EQ(fake_.live_executables(), 0);
  EXPECT_EQ(fake_.slots_out(), 0);
}

class ManualDeviceTest : public ManagerFixture {
 protected:
  static FakeDeviceOptions Manual() {
    FakeDeviceOptions options;
    options.run = FakeRun::kManual;
    return options;
  }
  ManualDeviceTest() : ManagerFixture(RealClock::Get(), Manual()) {}
};

TEST_F(ManualDeviceTest, AReloadLeavesARunningRequestOnItsVersion) {
  WriteModel("a", "max_batch_size: 4");
  ModelManager& manager = Start();
  ASSERT_THAT(manager.Load("a", {}), IsOk());
  auto handle = registry_.Acquire("a", "");
  RowTask task;
  ASSERT_THAT(manager.Offer(**handle, task), IsOk());
  fake_.AwaitLaunches(1);
  ASSERT_THAT(manager.Load("a", {}), IsOk());
  EXPECT_NE((*registry_.Acquire("a", ""))->uid(), (*handle)->uid());
  EXPECT_EQ(fake_.live_models(), 2);
  fake_.FinishAll();
  EXPECT_THAT(task.Await(), IsOk());
  handle = absl::UnknownError("dropped");
  manager_.reset();
  EXPECT_EQ(fake_.live_models(), 0);
}

}  // namespace
}  // namespace reprise
