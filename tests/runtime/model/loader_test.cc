#include "runtime/model/loader.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/util/json_util.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "tests/runtime/model/temp_dir.h"
#include "tests/runtime/model/tiny_models.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/fake_device.h"
#include "tests/testing/onnx_builder.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::FakeClock;
using ::reprise::testing::FakeDevice;
using ::reprise::testing::FreeDimModel;
using ::reprise::testing::IsOk;
using ::reprise::testing::MaxOverBatchModel;
using ::reprise::testing::OnnxBuilder;
using ::reprise::testing::ReluModel;
using ::reprise::testing::StatusIs;
using ::reprise::testing::TempDir;
using ::reprise::testing::TwoOutputsModel;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

class LoaderTest : public ::testing::Test {
 protected:
  absl::StatusOr<ImportedVersion> Import(
      int64_t version = 1,
      const std::optional<std::string>& json = std::nullopt) {
    auto source = FindModel({repo_.path()}, "m");
    if (!source.ok()) return source.status();
    auto definition = ReadDefinition(*source, json, options_);
    if (!definition.ok()) return definition.status();
    return ImportVersion(*source, version, *definition, options_, memory_);
  }
  void WriteModel(const std::string& bytes, const std::string& config = "") {
    repo_.Write("m/1/model.onnx", bytes);
    if (!config.empty()) repo_.Write("m/config.pbtxt", config);
  }

  TempDir repo_;
  LoaderOptions options_;
  DeviceMemory memory_;  // not known
};

TEST_F(LoaderTest, AModelWithoutConfigurationIsBatchedWhereItCanBe) {
  WriteModel(ReluModel());
  const auto imported = Import();
  ASSERT_THAT(imported, IsOk());
  EXPECT_EQ(imported->text(), "m/1");
  EXPECT_TRUE(imported->signature.batched);
  EXPECT_EQ(imported->signature.max_batch, 32);
  EXPECT_EQ(imported->config.proto.max_batch_size(), 32);
  EXPECT_TRUE(imported->config.batch.dynamic_batching);
  EXPECT_THAT(imported->config.ladder, ElementsAre(1, 2, 4, 8, 12, 16, 24, 32));
  EXPECT_EQ(imported->config.proto.input(0).name(), "x");
  EXPECT_THAT(imported->config.proto.input(0).dims(), ElementsAre(4));
  EXPECT_THAT(imported->warnings, IsEmpty());
}

TEST_F(LoaderTest, AModelWhoseRowsDependOnEachOtherIsNotBatched) {
  WriteModel(MaxOverBatchModel());
  const auto imported = Import();
  ASSERT_THAT(imported, IsOk());
  EXPECT_FALSE(imported->signature.batched);
  EXPECT_EQ(imported->config.proto.max_batch_size(), 0);
  EXPECT_THAT(imported->config.ladder, ElementsAre(1));
  ASSERT_THAT(imported->notes, SizeIs(1));
  EXPECT_THAT(imported->notes[0],
              AllOf(HasSubstr("not batched"), HasSubstr("max1")));
}

TEST_F(LoaderTest, ABatchThatTheModelCannotHaveIsRefused) {
  WriteModel(MaxOverBatchModel(), "max_batch_size: 8");
  EXPECT_THAT(Import(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                 AllOf(HasSubstr("cannot be batched"),
                                       HasSubstr("max1"))));
}

TEST_F(LoaderTest, MaxBatchSizeZeroMakesTheBatchAFreeDim) {
  WriteModel(ReluModel(),
             "max_batch_size: 0 input { name: 'x' data_type: "
             "TYPE_FP32 dims: [ -1, 4 ] }");
  const auto imported = Import();
  ASSERT_THAT(imported, IsOk());
  EXPECT_FALSE(imported->signature.batched);
  EXPECT_THAT(imported->signature.free_symbols, ElementsAre("N"));
  EXPECT_THAT(imported->config.proto.input(0).dims(), ElementsAre(-1, 4));
  EXPECT_THAT(imported->config.proto.output(0).dims(), ElementsAre(-1, 4));
}

TEST_F(LoaderTest, DimsOfTheConfigurationFixFreeOnes) {
  WriteModel(FreeDimModel(),
             "max_batch_size: 4 input { name: 'x' data_type: "
             "TYPE_FP32 dims: [ 7 ] }");
  const auto imported = Import();
  ASSERT_THAT(imported, IsOk());
  EXPECT_THAT(imported->signature.free_symbols, IsEmpty());
  EXPECT_EQ(imported->signature.inputs[0].dims, (Dims{7}));
  EXPECT_EQ(imported->signature.outputs[0].dims, (Dims{7}));
}

TEST_F(LoaderTest, FindsTheConfigurationThatIsAskedFor) {
  WriteModel(ReluModel(), "max_batch_size: 2");
  repo_.Write("m/configs/h100.pbtxt", "max_batch_size: 6");
  EXPECT_EQ(Import()->config.proto.max_batch_size(), 2);
  options_.config_name = "h100";
  EXPECT_EQ(Import()->config.proto.max_batch_size(), 6);
  options_.config_name = "a100";  // falls back to config.pbtxt
  EXPECT_EQ(Import()->config.proto.max_batch_size(), 2);
  const auto json = Import(1, R"({"max_batch_size": 3})");
  ASSERT_THAT(json, IsOk());
  EXPECT_EQ(json->config.proto.max_batch_size(), 3);
}

void ExpectSame(const ImportedVersion& again, const ImportedVersion& first) {
  const ModelConfig& one = again.config;
  const ModelConfig& other = first.config;
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(one.proto,
                                                                 other.proto))
      << one.proto.DebugString() << other.proto.DebugString();
  EXPECT_TRUE(one.batch == other.batch);
  EXPECT_EQ(one.ladder, other.ladder);
  EXPECT_EQ(one.ladder_configured, other.ladder_configured);
  EXPECT_EQ(one.kind, other.kind);
  EXPECT_EQ(one.devices, other.devices);
  EXPECT_EQ(one.instances, other.instances);
  EXPECT_EQ(one.precision, other.precision);
  EXPECT_EQ(one.variants, other.variants);
  EXPECT_EQ(one.fusions_off, other.fusions_off);
  EXPECT_EQ(again.signature.batched, first.signature.batched);
  EXPECT_EQ(again.signature.max_batch, first.signature.max_batch);
  EXPECT_EQ(again.signature.free_symbols, first.signature.free_symbols);
  EXPECT_EQ(again.warnings, first.warnings);
}

TEST_F(LoaderTest, WhatIsReportedLoadsTheSameAgain) {
  const auto expect_same = [this](const std::string& model,
                                  const std::string& config) {
    SCOPED_TRACE(config);
    WriteModel(model, config);
    const auto first = Import();
    ASSERT_THAT(first, IsOk());
    std::string json;
    ASSERT_TRUE(
        google::protobuf::util::MessageToJsonString(first->config.proto, &json)
            .ok());
    const auto again = Import(1, json);
    ASSERT_THAT(again, IsOk());
    ExpectSame(*again, *first);
  };
  expect_same(ReluModel(), "");  // without a file
  expect_same(MaxOverBatchModel(), "");
  const std::string eight = "max_batch_size: 8 ";
  for (const char* config :
       {"", "dynamic_batching { }",
        "dynamic_batching { max_queue_delay_microseconds: 100 }",
        "dynamic_batching { preferred_batch_size: 8 }",
        "dynamic_batching { preferred_batch_size: [ 6, 3 ] }",
        "dynamic_batching { preferred_batch_size: [ 4, 8 ] "
        "max_queue_delay_microseconds: 100 preserve_ordering: true }",
        "dynamic_batching { priority_levels: 3 default_priority_level: 2 "
        "default_queue_policy { max_queue_size: 5 timeout_action: DELAY } "
        "priority_queue_policy { key: 1 value { max_queue_size: 4 "
        "default_timeout_microseconds: 9 } } }",
        "dynamic_batching { } optimization { eager_batching: true cuda { "
        "graph_spec { batch_size: 5 } } }",
        "instance_group { count: 2 } parameters { key: 'slo_ms' value { "
        "string_value: '20' } }"}) {
    expect_same(ReluModel(), eight + config);
  }
  expect_same(ReluModel(), "dynamic_batching { }");
  expect_same(ReluModel(), "max_batch_size: 1 dynamic_batching { }");
  expect_same(ReluModel(), "max_batch_size: 0 dynamic_batching { }");
  expect_same(FreeDimModel(),
              "parameters { key: 'dim.seq' value { string_value: '7' } }");
  expect_same(FreeDimModel(), eight +
                                  "parameters { key: 'variants' value { "
                                  "string_value: 'seq=3; seq=9' } }");
}

TEST_F(LoaderTest, AParameterThatIsNotKnownIsWarnedOf) {
  WriteModel(ReluModel(),
             "max_batch_size: 4 parameters { key: 'intra_op_thread_count' "
             "value { string_value: '2' } }");
  const auto source = FindModel({repo_.path()}, "m");
  ASSERT_THAT(source, IsOk());
  const auto definition = ReadDefinition(*source, std::nullopt, options_);
  ASSERT_THAT(definition, IsOk());
  EXPECT_THAT(definition->warnings,
              ElementsAre(AllOf(HasSubstr("parameters that are not known here"),
                                HasSubstr("['intra_op_thread_count']"),
                                Not(HasSubstr("change no answer")))));
}

TEST_F(LoaderTest, ABrokenConfigurationNamesFileAndLine) {
  WriteModel(ReluModel(), "name: 'm'\nmax_batch_size: {\n");
  EXPECT_THAT(Import(), StatusIs(kInvalid, HasSubstr("config.pbtxt: line 2:")));
  EXPECT_THAT(Import(1, "{bad"), StatusIs(kInvalid, HasSubstr("config: ")));
  EXPECT_THAT(Import(1, ""), StatusIs(kInvalid));
  EXPECT_THAT(Import(1, R"({"max_batch_size": -3, "backend": "x"})"),
              StatusIs(kInvalid, AllOf(HasSubstr("max_batch_size is -3"),
                                       HasSubstr("backend 'x'"))));
}

TEST_F(LoaderTest, StrictConfigurationsMustBeThere) {
  WriteModel(ReluModel());
  options_.strict_config = true;
  EXPECT_THAT(Import(), StatusIs(absl::StatusCode::kNotFound,
                                 HasSubstr("no config.pbtxt")));
  repo_.Write("m/config.pbtxt",
              "max_batch_size: 2 "
              "input { name: 'x' data_type: TYPE_FP32 dims: 4 } "
              "output { name: 'y' data_type: TYPE_FP32 dims: 4 }");
  EXPECT_THAT(Import(), IsOk());
}

TEST_F(LoaderTest, MismatchesNameTheTensor) {
  WriteModel(ReluModel(),
             "max_batch_size: 8 input { name: 'x' data_type: "
             "TYPE_FP32 dims: [ 5 ] }");
  EXPECT_THAT(Import(), StatusIs(kInvalid, HasSubstr("input 'x'")));
  repo_.Write("m/config.pbtxt", "output { name: 'z' }");
  EXPECT_THAT(Import(), StatusIs(kInvalid, HasSubstr("output 'z'")));
}

TEST_F(LoaderTest, OnlyListedOutputsAreServed) {
  WriteModel(TwoOutputsModel(), "output { name: 'z' }");
  const auto imported = Import();
  ASSERT_THAT(imported, IsOk());
  ASSERT_THAT(imported->signature.outputs, SizeIs(1));
  EXPECT_EQ(imported->signature.outputs[0].name, "z");
}

TEST_F(LoaderTest, ReadsLabels) {
  WriteModel(ReluModel(), "output { name: 'y' label_filename: 'labels.txt' }");
  EXPECT_THAT(Import(), StatusIs(absl::StatusCode::kNotFound,
                                 AllOf(HasSubstr("output 'y'"),
                                       HasSubstr("labels.txt"))));
  repo_.Write("m/labels.txt", "zero\r\none\n\nthree");
  EXPECT_THAT(Import()->config.labels.at("y"),
              ElementsAre("zero", "one", "", "three"));
}

TEST_F(LoaderTest, ReadsTheFileThatIsNamed) {
  repo_.Write("m/1/net.onnx", ReluModel());
  EXPECT_THAT(Import(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("1/model.onnx")));
  repo_.Write("m/config.pbtxt", "default_model_filename: 'net.onnx'");
  EXPECT_THAT(Import(), IsOk());
  EXPECT_THAT(Import(2),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("version 2")));
}

TEST_F(LoaderTest, ABrokenModelIsRefused) {
  WriteModel("not a model");
  EXPECT_THAT(Import(), StatusIs(kInvalid, HasSubstr("model.onnx")));
}

TEST_F(LoaderTest, OneRowMustFitIntoAMessage) {
  WriteModel(ReluModel());
  options_.max_message_bytes = 16;
  const auto fits = Import();
  ASSERT_THAT(fits, IsOk());
  EXPECT_THAT(fits->warnings,
              ElementsAre(HasSubstr("request"), HasSubstr("reply")));
  options_.max_message_bytes = 15;
  EXPECT_THAT(Import(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                 HasSubstr("--grpc-max-message-bytes")));
}

TEST_F(LoaderTest, TheCpuRunsWhatAsksForAGpuAndFp32Always) {
  WriteModel(ReluModel(),
             "instance_group { kind: KIND_GPU } parameters { key: "
             "'precision' value { string_value: 'fp16' } }");
  const auto cpu = Import();
  ASSERT_THAT(cpu, IsOk());
  EXPECT_THAT(cpu->warnings, ElementsAre(HasSubstr("runs on the CPU")));
  EXPECT_THAT(cpu->notes, ElementsAre(HasSubstr("precision=fp16")));
  EXPECT_EQ(cpu->config.precision, "fp32");
  options_.gpus = true;
  const auto gpu = Import();
  ASSERT_THAT(gpu, IsOk());
  EXPECT_THAT(gpu->warnings, IsEmpty());
  EXPECT_EQ(gpu->config.precision, "fp16");
}

TEST_F(LoaderTest, FilesOfARequestAreAModelToo) {
  const auto source = SourceFromFiles("m", {{"3/model.onnx", ReluModel()}});
  ASSERT_THAT(source, IsOk());
  const auto definition =
      ReadDefinition(*source, R"({"max_batch_size": 2})", options_);
  ASSERT_THAT(definition, IsOk());
  const auto imported =
      ImportVersion(*source, 3, *definition, options_, memory_);
  ASSERT_THAT(imported, IsOk());
  EXPECT_EQ(imported->text(), "m/3");
  EXPECT_THAT(ImportVersion(*source, 3, *definition, options_,
                            {.total = 100, .free = 10}),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

// x [N, 4] + w [bytes / 4, 4], where w lies beside the model.
std::string ExternalModel(int64_t bytes) {
  OnnxBuilder model(13);
  model.Input("x", {"N", 4})
      .Node("Relu", {"x"}, {"y"}, "relu1")
      .Node("ReduceSum", {"w"}, {"sum"}, "sum1")
      .Output("y", {"N", 4})
      .Output("sum", {1, 1});
  onnx::TensorProto& w = *model.graph().add_initializer();
  w.set_name("w");
  w.set_data_type(OnnxBuilder::kFloat);
  w.add_dims(bytes / 16);
  w.add_dims(4);
  w.set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto& entry = *w.add_external_data();
  entry.set_key("location");
  entry.set_value("weights.bin");
  return model.Bytes();
}

TEST_F(LoaderTest, WeightsThatDoNotFitAreRefusedBeforeTheyAreRead) {
  constexpr int64_t kBytes = int64_t{1} << 24;
  WriteModel(ExternalModel(kBytes), "max_batch_size: 0");
  repo_.Write("m/1/weights.bin", "");
  std::filesystem::resize_file(repo_.Path("m/1/weights.bin"), kBytes);
  memory_ = {.total = int64_t{1} << 30, .free = kBytes};
  EXPECT_THAT(
      Import(),
      StatusIs(absl::StatusCode::kResourceExhausted,
               AllOf(HasSubstr("model.onnx"), HasSubstr("16777216 bytes"),
                     HasSubstr("'w'"), HasSubstr("16777216 bytes of memory"))));
  // The file itself needs a little, too.
  memory_.free = kBytes + 4096;
  EXPECT_THAT(Import(), IsOk());
  // On a GPU the weights alone are held against its memory.
  options_.gpus = true;
  memory_.free = kBytes;
  EXPECT_THAT(Import(), IsOk());
  memory_.free = kBytes - 1;
  EXPECT_THAT(Import(), StatusIs(absl::StatusCode::kResourceExhausted));
}

// More than any machine has: if any of it were taken, the test would end here.
TEST_F(LoaderTest, WeightsOfAnySizeCostNothingToRefuse) {
  constexpr int64_t kBytes = int64_t{1} << 43;
  WriteModel(ExternalModel(kBytes), "max_batch_size: 0");
  memory_ = {.total = int64_t{1} << 30, .free = int64_t{1} << 30};
  EXPECT_THAT(Import(), StatusIs(absl::StatusCode::kResourceExhausted,
                                 HasSubstr("8796093022208 bytes")));
}

TEST_F(LoaderTest, AFileMayHaveHalfOfWhatIsFree) {
  const std::string bytes = ReluModel();
  WriteModel(bytes);
  const int64_t size = static_cast<int64_t>(bytes.size());
  memory_ = {.total = int64_t{1} << 30, .free = 2 * size};
  EXPECT_THAT(Import(), IsOk());
  memory_.free = 2 * size - 1;
  EXPECT_THAT(Import(), StatusIs(absl::StatusCode::kResourceExhausted,
                                 AllOf(HasSubstr("1/model.onnx"),
                                       HasSubstr("of memory are free"))));
}

// data [1, 2] x w [2, 2], where w is an input with a default value.
std::string DefaultedModel(int ir_version) {
  return OnnxBuilder(9, ir_version)
      .Input("data", {1, 2})
      .Input("w", {2, 2})
      .Floats("w", {2, 2}, {1, 2, 3, 4})
      .Node("MatMul", {"data", "w"}, {"y"})
      .Output("y", {1, 2})
      .Bytes();
}

TEST_F(LoaderTest, InputsWithADefaultAreServedWithItAndSaidToBe) {
  WriteModel(DefaultedModel(8));
  const auto imported = Import();
  ASSERT_THAT(imported, IsOk());
  ASSERT_THAT(imported->signature.inputs, SizeIs(1));
  EXPECT_THAT(imported->notes,
              Contains(AllOf(HasSubstr("default value"), HasSubstr(": w"))));
  // Before IR 4 every initialiser had to be listed: no one means anything by
  // it.
  WriteModel(DefaultedModel(3));
  EXPECT_THAT(Import()->notes, Not(Contains(HasSubstr("default value"))));
}

TEST_F(LoaderTest, AConfigurationThatListsADefaultIsRefusedByItsName) {
  WriteModel(DefaultedModel(8),
             "max_batch_size: 0 input [ { name: 'data' }, { name: 'w' } ]");
  EXPECT_THAT(Import(), StatusIs(kInvalid, AllOf(HasSubstr("input 'w'"),
                                                 HasSubstr("default value"))));
}

TEST_F(LoaderTest, ALinkedVersionIsLoadedWithItsWeights) {
  repo_.Write("m/..one/1/model.onnx", ExternalModel(64));
  repo_.Write("m/..one/1/weights.bin", std::string(64, '\0'));
  repo_.Link("..one/1", "m/1");
  repo_.Write("m/config.pbtxt", "max_batch_size: 0");
  EXPECT_THAT(Import(), IsOk());
}

TEST_F(LoaderTest, VersionsThatAreLeftOutAreWarnedOf) {
  WriteModel(ReluModel());
  repo_.Link("/", "m/2");
  const auto source = FindModel({repo_.path()}, "m");
  ASSERT_THAT(source, IsOk());
  const auto definition = ReadDefinition(*source, std::nullopt, options_);
  ASSERT_THAT(definition, IsOk());
  EXPECT_THAT(definition->warnings, ElementsAre(HasSubstr("2 is a link")));
}

class PrepareTest : public LoaderTest {
 protected:
  absl::StatusOr<PreparedVersion> Prepare() {
    const auto imported = Import();
    if (!imported.ok()) return imported.status();
    return PrepareVersion(*imported, *device_);
  }

  FakeClock clock_;
  FakeDevice fake_{clock_};
  const std::unique_ptr<Device> device_ = fake_.Make();
};

TEST_F(PrepareTest, EveryInstanceHasALane) {
  WriteModel(ReluModel(), "max_batch_size: 4 instance_group { count: 2 }");
  const auto prepared = Prepare();
  ASSERT_THAT(prepared, IsOk());
  ASSERT_THAT(prepared->variants, SizeIs(1));
  EXPECT_THAT(prepared->variants[0].key, IsEmpty());
  ASSERT_THAT(prepared->variants[0].lanes, SizeIs(2));
  EXPECT_THAT(prepared->variants[0].lanes[0]->ladder(), SizeIs(3));
}

TEST_F(PrepareTest, NamedVariantsArePreparedOthersAreNot) {
  WriteModel(FreeDimModel(), "max_batch_size: 4");
  EXPECT_THAT(Prepare()->variants, IsEmpty());
  repo_.Write("m/config.pbtxt",
              "max_batch_size: 4 parameters { key: 'variants' value { "
              "string_value: 'seq=3; seq=9; seq=3' } }");
  const auto prepared = Prepare();
  ASSERT_THAT(prepared, IsOk());
  ASSERT_THAT(prepared->variants, SizeIs(2));
  EXPECT_THAT(prepared->variants[0].key, ElementsAre(3));
  EXPECT_THAT(prepared->variants[1].key, ElementsAre(9));
}

TEST_F(PrepareTest, TheDeviceHearsWhatTheConfigurationWantsOfIt) {
  WriteModel(ReluModel(),
             "max_batch_size: 4 parameters { key: 'fusions' value { "
             "string_value: 'bias' } }");
  ASSERT_THAT(Prepare(), IsOk());
  EXPECT_THAT(fake_.load_options().fusions_off, ElementsAre("bias"));
  EXPECT_TRUE(fake_.load_options().may_drop_rungs);
  WriteModel(ReluModel(),
             "max_batch_size: 4 dynamic_batching { preferred_batch_size: 2 }");
  ASSERT_THAT(Prepare(), IsOk());
  EXPECT_THAT(fake_.load_options().fusions_off, IsEmpty());
  EXPECT_FALSE(fake_.load_options().may_drop_rungs);
}

TEST_F(PrepareTest, AFailureLeavesNothingOnTheDevice) {
  WriteModel(ReluModel());
  fake_.FailPrepare({}, absl::ResourceExhaustedError("no room for the arena"));
  EXPECT_THAT(Prepare(), StatusIs(absl::StatusCode::kResourceExhausted,
                                  HasSubstr("no room")));
  EXPECT_EQ(fake_.live_models(), 0);
  EXPECT_EQ(fake_.live_executables(), 0);
}

}  // namespace
}  // namespace reprise
