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
using ::reprise::testing::ReluModel;
using ::reprise::testing::TempDir;
using ::testing::AllOf;
using ::testing::HasSubstr;

class CheckTest : public ::testing::Test {
 protected:
  int Run(const std::vector<std::string>& args) {
    std::vector<const char*> pointers;
    for (const std::string& arg : args) pointers.push_back(arg.c_str());
    std::ostringstream out;
    const int code = RunCheck(
        pointers, [this] { return fake_.factory()(); }, out);
    out_ = out.str();
    return code;
  }

  TempDir repo_;
  FakeDevice fake_{RealClock::Get()};
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

TEST_F(CheckTest, ACommandLineWithoutSenseIsExplained) {
  EXPECT_EQ(Run({}), 2);
  EXPECT_THAT(out_, HasSubstr("usage: reprised check DIR"));
  EXPECT_EQ(Run({repo_.path(), "--no-such-flag=1"}), 2);
  EXPECT_THAT(out_, AllOf(HasSubstr("usage"), HasSubstr("no-such-flag")));
  EXPECT_EQ(Run({repo_.Path("absent")}), 2);
  EXPECT_THAT(out_, HasSubstr("absent' is not a directory"));
}

}  // namespace
}  // namespace reprise
