#include "server/tools/check.h"

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/clock.h"
#include "tests/runtime/model/temp_dir.h"
#include "tests/runtime/model/tiny_models.h"
#include "tests/testing/fake_device.h"

namespace reprise {
namespace {

using ::reprise::testing::FakeDevice;
using ::reprise::testing::FreeDimModel;
using ::reprise::testing::MaxOverBatchModel;
using ::reprise::testing::OnnxBuilder;
using ::reprise::testing::ReluModel;
using ::reprise::testing::TempDir;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CheckTest : public ::testing::Test {
 protected:
  int Run(const std::vector<std::string>& args) {
    std::vector<const char*> pointers;
    for (const std::string& arg : args) pointers.push_back(arg.c_str());
    std::ostringstream out;
    const int code = RunCheck(
        pointers,
        [this](const ServerOptions& options) {
          options_ = options;
          return fake_.factory()();
        },
        out);
    out_ = out.str();
    return code;
  }

  TempDir repo_;
  FakeDevice fake_{RealClock::Get()};
  ServerOptions options_;  // that the device was made for
  std::string out_;
};

TEST_F(CheckTest, AGoodRepositoryIsOk) {
  repo_.Write("digits/1/model.onnx", ReluModel());
  repo_.Write("digits/config.pbtxt", "max_batch_size: 4");
  repo_.Write("text/7/model.onnx", FreeDimModel());
  repo_.Write("mel/1/model.onnx", MaxOverBatchModel());
  EXPECT_EQ(Run({repo_.path()}), 0);
  EXPECT_THAT(out_,
              AllOf(HasSubstr("ok      digits/1  x FP32[4] -> y FP32[4]  "
                              "max_batch_size=4 ladder=1,2,4 variants=1\n"),
                    HasSubstr("ok      text/7  x FP32[seq] -> y FP32[seq]"),
                    HasSubstr("variants=0\n"), HasSubstr("note: not batched: "),
                    HasSubstr("max1"), HasSubstr("\n3 ok, 0 failed\n")));
  EXPECT_EQ(fake_.live_models(), 0);
  EXPECT_EQ(fake_.live_devices(), 0);
}

TEST_F(CheckTest, EveryFaultHasItsLine) {
  repo_.Write("a/1/model.onnx", ReluModel());
  repo_.Write("a/config.pbtxt", "optimization { priority: PRIORITY_MAX }");
  repo_.Write("bad/1/model.onnx", "no model");
  repo_.Write("broken/config.pbtxt", "max_batch_size: {");
  repo_.MakeFolder("noversion");
  EXPECT_EQ(Run({repo_.path()}), 1);
  EXPECT_THAT(out_, AllOf(HasSubstr("ok      a/1"),
                          HasSubstr("warning: the configuration has fields"),
                          HasSubstr("failed  bad/1  model.onnx"),
                          HasSubstr("failed  broken  config.pbtxt: line 1:"),
                          HasSubstr("failed  noversion  no version"),
                          HasSubstr("\n1 ok, 3 failed\n")));
}

TEST_F(CheckTest, WhatTheDeviceRefusesFails) {
  repo_.Write("a/1/model.onnx", ReluModel());
  fake_.FailPrepare({}, absl::FailedPreconditionError("rows differ"));
  EXPECT_EQ(Run({repo_.path()}), 1);
  EXPECT_THAT(out_, HasSubstr("failed  a/1  rows differ\n0 ok, 1 failed\n"));
}

TEST_F(CheckTest, TakesTheDaemonsFlags) {
  repo_.Write("a/1/model.onnx", ReluModel());
  EXPECT_EQ(Run({repo_.path(), "--default-max-batch-size=2"}), 0);
  EXPECT_THAT(out_, HasSubstr("max_batch_size=2 ladder=1,2 "));
  EXPECT_EQ(Run({"--model-name=net", "--model-path=" + repo_.Path("a")}), 0);
  EXPECT_THAT(out_, HasSubstr("ok      net/1"));
}

TEST_F(CheckTest, TheDeviceIsMadeAsTheServersWouldBe) {
  repo_.Write("a/1/model.onnx", ReluModel());
  EXPECT_EQ(Run({repo_.path(), "--cpu-threads=3", "--device=cpu"}), 0);
  EXPECT_EQ(options_.cpu_threads, 3);
  EXPECT_EQ(options_.device, DeviceChoice::kCpu);
}

TEST_F(CheckTest, MessagesAreAsLargeAsTheServersWouldBe) {
  repo_.Write("a/1/model.onnx", ReluModel(/*width=*/2048));
  EXPECT_EQ(Run({repo_.path(), "--grpc-max-message-bytes=1048576"}), 0);
  EXPECT_THAT(out_, Not(HasSubstr("--grpc-max-message-bytes")));
  EXPECT_EQ(Run({repo_.path(), "--grpc-max-message-bytes=65536"}), 0);
  EXPECT_THAT(out_, HasSubstr("does not fit --grpc-max-message-bytes=65536"));
}

TEST_F(CheckTest, WhatCannotBeReadFails) {
  repo_.Link("a", "a");
  repo_.Write("b/1/model.onnx", ReluModel());
  EXPECT_EQ(Run({repo_.path()}), 1);
  EXPECT_THAT(out_,
              AllOf(HasSubstr("failed  a  "), HasSubstr("1 ok, 1 failed\n")));
}

TEST_F(CheckTest, VersionsThatAreLeftOutAreWarnedOf) {
  repo_.Write("a/1/model.onnx", ReluModel());
  repo_.Link("/", "a/2");
  repo_.MakeFolder("b");
  repo_.Link("/", "b/1");
  EXPECT_EQ(Run({repo_.path()}), 1);
  EXPECT_THAT(out_,
              AllOf(HasSubstr("ok      a/1"), HasSubstr("ignored: 2 is a link"),
                    HasSubstr("failed  b  no version"),
                    HasSubstr("ignored: 1 is a link")));
}

// The fake device has 1 GiB.
TEST_F(CheckTest, WeightsThatTheDeviceHasNoRoomForFail) {
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
  repo_.Write("a/1/model.onnx", large.Bytes());
  EXPECT_EQ(Run({repo_.path()}), 1);
  EXPECT_THAT(out_, AllOf(HasSubstr("failed  a/1"),
                          HasSubstr("2147483648 bytes together"),
                          HasSubstr("bytes of memory are free")));
}

TEST_F(CheckTest, ACommandLineWithoutSenseIsExplained) {
  EXPECT_EQ(Run({}), 2);
  EXPECT_THAT(out_, HasSubstr("usage: reprised check DIR"));
  EXPECT_EQ(Run({repo_.path(), "--no-such-flag=1"}), 2);
  EXPECT_THAT(out_, AllOf(HasSubstr("usage"), HasSubstr("no-such-flag")));
  EXPECT_EQ(Run({repo_.Path("absent")}), 2);
  EXPECT_THAT(out_, AllOf(HasSubstr("absent' is not a directory"),
                          Not(HasSubstr("--model-repository"))));
  EXPECT_EQ(Run({repo_.path(), "--devic", "cpu"}), 2);
  EXPECT_THAT(out_, StartsWith("unknown flag --devic; did you mean --device?\n"
                               "'cpu' is not a directory\n"));
}

TEST_F(CheckTest, WhatIsNotUtf8IsShownEscaped) {
  repo_.Write("a/1/model.onnx", ReluModel());
  repo_.Write("b\xff/1/model.onnx", ReluModel());
  EXPECT_EQ(Run({repo_.path()}), 1);
  EXPECT_THAT(out_,
              AllOf(HasSubstr("/b\\xff  a model's name must be UTF-8"),
                    HasSubstr("\n1 ok, 1 failed\n"), Not(HasSubstr("\xff"))));
}

TEST_F(CheckTest, FoldersMayStandBehindFlags) {
  repo_.Write("a/1/model.onnx", ReluModel());
  EXPECT_EQ(Run({"--cpu-threads=3", repo_.path()}), 0);
  EXPECT_EQ(Run({"--cpu-threads", "2", repo_.path()}), 0);
  EXPECT_EQ(options_.cpu_threads, 2);
  EXPECT_EQ(Run({"--disable-auto-complete-config=false", "--exit-on-error",
                 repo_.path()}),
            0);
  EXPECT_TRUE(options_.exit_on_error);
  EXPECT_EQ(Run({"--exit-on-error", "false", repo_.path()}), 0);
  EXPECT_FALSE(options_.exit_on_error);
}

TEST_F(CheckTest, HelpSaysWhatItDoes) {
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(out_, AllOf(HasSubstr("usage: reprised check DIR..."),
                          HasSubstr("Flags"), HasSubstr("Exit codes: 0")));
}

TEST_F(CheckTest, ARepositoryWithoutModelsIsAFault) {
  EXPECT_EQ(Run({repo_.path()}), 1);
  EXPECT_EQ(out_, "no model found\n");
}

TEST_F(CheckTest, AVersionThatIsNamedAndNotThereIsWarnedOf) {
  repo_.Write("a/1/model.onnx", ReluModel());
  repo_.Write("a/config.pbtxt",
              "version_policy { specific { versions: [ 1, 7 ] } }");
  EXPECT_EQ(Run({repo_.path()}), 0);
  EXPECT_THAT(out_, HasSubstr("warning: version_policy.specific names version "
                              "7, which the model does not have"));
}

}  // namespace
}  // namespace reprise
