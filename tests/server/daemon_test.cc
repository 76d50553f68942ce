#include "server/daemon.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/grpc_service.pb.h"
#include "runtime/device/fault.h"
#include "tests/testing/fake_device.h"
#include "tests/testing/onnx_builder.h"

namespace reprise::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(DaemonTest, HelpAndVersionAreAnsweredAtOnce) {
  ::testing::internal::CaptureStdout();
  const std::vector<const char*> help = {"--help"};
  EXPECT_EQ(RunDaemon(help), 0);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              HasSubstr("--model-repository=DIR"));
  ::testing::internal::CaptureStdout();
  const std::vector<const char*> version = {"--version"};
  EXPECT_EQ(RunDaemon(version), 0);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              HasSubstr(absl::StrCat("reprised ", ProgramVersion())));
}

TEST(DaemonTest, ABadStringInARequestWritesNoLine) {
  ::testing::internal::CaptureStdout();
  const std::vector<const char*> version = {"--version"};
  EXPECT_EQ(RunDaemon(version), 0);
  ::testing::internal::GetCapturedStdout();
  ::testing::internal::CaptureStderr();
  inference::ModelMetadataRequest request;
  EXPECT_FALSE(request.ParseFromString("\x0a\x01\xff"));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(DaemonTest, BadFlagsAreLinesAndExitCodeTwo) {
  ::testing::internal::CaptureStderr();
  const std::vector<const char*> args = {"--grpc-port=x", "--nope"};
  EXPECT_EQ(RunDaemon(args), 2);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("reprised: --grpc-port=x: expected a whole "
                              "number\n"));
  EXPECT_THAT(text, HasSubstr("reprised: unknown flag --nope"));
  EXPECT_THAT(text, Not(HasSubstr("nothing to serve")));
}

TEST(DaemonTest, HealthIsASubcommand) {
  ::testing::internal::CaptureStderr();
  const std::vector<const char*> args = {"health", "127.0.0.1:1",
                                         "--connect-timeout=0.1"};
  EXPECT_EQ(RunDaemon(args), 2);
  ::testing::internal::GetCapturedStderr();
}

TEST(DaemonTest, CheckMakesTheDeviceThatItsFlagsAskFor) {
  const std::string folder = ::testing::TempDir();
  const std::vector<const char*> args = {"check", folder.c_str(),
                                         "--device=cuda"};
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(RunDaemon(args), 1);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              HasSubstr("no device: --device=cuda"));
}

// A daemon that cannot start, in a process of its own.
class DaemonDeathTest : public ::testing::Test {
 protected:
  DaemonDeathTest() { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }

  [[noreturn]] static void Start(std::vector<std::string> flags) {
    flags.push_back(absl::StrCat("--model-repository=", ::testing::TempDir()));
    flags.emplace_back("--grpc-address=unix:/no/such/folder/socket");
    flags.emplace_back("--allow-metrics=false");
    std::vector<const char*> args;
    for (const std::string& flag : flags) args.push_back(flag.c_str());
    _exit(RunDaemon(args));
  }
  static const ::testing::ExitedWithCode kCannotStart;
};
const ::testing::ExitedWithCode DaemonDeathTest::kCannotStart{1};

TEST_F(DaemonDeathTest, WhatKeepsItFromStartingIsALineOfTheLog) {
  EXPECT_EXIT(Start({}), kCannotStart,
              "error cannot start: cannot listen on "
              "unix:/no/such/folder/socket for gRPC: No such file");
  EXPECT_EXIT(Start({"--log-format=json"}), kCannotStart,
              "\"level\":\"error\",\"message\":\"cannot start: cannot listen");
}

TEST_F(DaemonDeathTest, IgnoredFlagsOfTritonsAreOneWarning) {
  EXPECT_EXIT(Start({"--http-port=8000", "--allow-http=false"}), kCannotStart,
              "warning flags of Triton's that change nothing here: --http-port "
              "--allow-http\n");
}

TEST_F(DaemonDeathTest, ACertificateWithoutTlsIsAWarning) {
  EXPECT_EXIT(Start({"--grpc-server-cert=cert.pem"}), kCannotStart,
              "warning gRPC is not encrypted: --grpc-server-cert without");
}

TEST_F(DaemonDeathTest, TheLogGoesToItsFile) {
  const std::string path = ::testing::TempDir() + "daemon_test.log";
  unlink(path.c_str());
  EXPECT_EXIT(Start({absl::StrCat("--log-file=", path)}), kCannotStart, "");
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)),
                         std::istreambuf_iterator<char>());
  EXPECT_THAT(text, HasSubstr(absl::StrCat("option --log-file=", path)));
  EXPECT_THAT(text, HasSubstr("cannot start: cannot listen"));
  EXPECT_EXIT(Start({"--log-file=/no/such/folder/log"}), kCannotStart,
              "cannot start: --log-file: cannot open '/no/such/folder/log'");
}

// A model whose warm-up loses the device.
TEST_F(DaemonDeathTest, ALostDeviceHasAnExitCodeOfItsOwn) {
  const std::string folder = ::testing::TempDir() + "daemon_test_lost";
  std::filesystem::create_directories(folder + "/add/1");
  OnnxBuilder model(/*opset=*/13);
  model.Input("x", {"N", 4}).Node("Add", {"x", "x"}, {"y"});
  model.Output("y", {"N", 4});
  std::ofstream(folder + "/add/1/model.onnx", std::ios::binary)
      << model.Bytes();
  std::ofstream(folder + "/add/config.pbtxt")
      << "max_batch_size: 4 model_warmup { name: 'w' inputs { key: 'x' "
         "value { data_type: TYPE_FP32 dims: 4 zero_data: true } } }";
  const auto serve = [&folder] {
    FakeDevice fake(RealClock::Get());
    fake.FailSubmit(AsDeviceFault(absl::UnavailableError("illegal address")));
    const std::string repository = "--model-repository=" + folder;
    const std::vector<const char*> args = {repository.c_str(), "--grpc-port=0",
                                           "--allow-metrics=false",
                                           "--device=cpu"};
    _exit(RunDaemon(args, [&fake](const DeviceWorker::DeviceFactory&) {
      return fake.factory();
    }));
  };
  EXPECT_EXIT(
      serve(), ::testing::ExitedWithCode(4),
      "a device is lost: every request is answered UNAVAILABLE.*illegal "
      "address(.|\n)*exit now: a device is lost code=4");
}

}  // namespace
}  // namespace reprise::testing
