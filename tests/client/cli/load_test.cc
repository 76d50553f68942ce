#include "client/files.h"
#include "gmock/gmock.h"
#include "tests/client/cli/run_cli.h"
#include "tests/client/fake_service.h"
#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::client::testing::CliRun;
using reprise::client::testing::FakeServer;
using reprise::client::testing::RunReprise;
using reprise::client::testing::TempPath;
using reprise::testing::IsOk;
using ::testing::HasSubstr;

TEST(LoadTest, LoadsAndSaysSo) {
  FakeServer server;
  const CliRun run =
      RunReprise({"load", "digits", "--server", server.address()});
  EXPECT_EQ(run.code, ExitCode::kOk);
  EXPECT_EQ(run.out, "digits is loaded\n");
  EXPECT_EQ(server.service().last_load().model_name(), "digits");
  EXPECT_TRUE(server.service().last_load().parameters().empty());
}

TEST(LoadTest, SendsConfigurationAndFiles) {
  FakeServer server;
  const std::string config = TempPath("load.json");
  const std::string model = TempPath("load.onnx");
  ASSERT_THAT(WriteFile(config, "{\"max_batch_size\": 8}"), IsOk());
  ASSERT_THAT(WriteFile(model, std::string("a\0b", 3)), IsOk());
  const CliRun run =
      RunReprise({"load", "digits", "--json", "--config", config, "--file",
                  "2/model.onnx=" + model, "--server", server.address()});
  EXPECT_EQ(run.code, ExitCode::kOk);
  EXPECT_THAT(run.out, HasSubstr("\"loaded\": true"));
  const auto load = server.service().last_load();
  EXPECT_EQ(load.parameters().at("config").string_param(),
            "{\"max_batch_size\": 8}");
  EXPECT_EQ(load.parameters().at("file:2/model.onnx").bytes_param(),
            std::string("a\0b", 3));
}

TEST(LoadTest, WrongFilesAreOne) {
  EXPECT_EQ(RunReprise({"load", "m", "--file", "1/m=x"}).err,
            "reprise load: --file needs --config\n");
  const std::string config = TempPath("load2.json");
  ASSERT_THAT(WriteFile(config, "{}"), IsOk());
  const CliRun run =
      RunReprise({"load", "m", "--config", config, "--file", "x"});
  EXPECT_EQ(run.code, ExitCode::kUsage);
  EXPECT_EQ(run.err, "reprise load: --file: \"x\" is not PATH=FILE\n");
  const std::string empty = TempPath("empty.json");
  ASSERT_THAT(WriteFile(empty, ""), IsOk());
  EXPECT_THAT(RunReprise({"load", "m", "--config", empty}).err,
              HasSubstr("--config: \"" + empty + "\" is empty"));
  EXPECT_THAT(RunReprise({"load", "m", "--config", "/no/such"}).err,
              HasSubstr("cannot read /no/such"));
}

TEST(LoadTest, ARefusedLoadIsTwoOrThree) {
  FakeServer server;
  server.service().FailNext({grpc::StatusCode::UNAVAILABLE, "not allowed"});
  EXPECT_EQ(RunReprise({"load", "digits", "--server", server.address()}).code,
            ExitCode::kUnreachable);
  server.service().FailNext({grpc::StatusCode::INTERNAL, "failed to load"});
  EXPECT_EQ(RunReprise({"load", "digits", "--server", server.address()}).code,
            ExitCode::kRpcError);
}

TEST(LoadTest, ThePathOfAFileIsUtf8) {
  const std::string config = TempPath("utf8.json");
  ASSERT_THAT(WriteFile(config, "{}"), IsOk());
  const CliRun run = RunReprise(
      {"load", "digits", "--config", config, "--file", "1/a\xFF=" + config});
  EXPECT_EQ(run.code, ExitCode::kUsage);
  EXPECT_EQ(run.err, "reprise load: --file: \"1/a\\xff\" is not UTF-8\n");
}

}  // namespace
}  // namespace reprise::client
