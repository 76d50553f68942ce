#include "client/cli/cli.h"

#include "gmock/gmock.h"
#include "tests/client/cli/run_cli.h"
#include "tests/client/fake_service.h"

namespace reprise::client {
namespace {

using reprise::client::testing::CliRun;
using reprise::client::testing::FakeServer;
using reprise::client::testing::RunReprise;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const char* const kCommands[] = {"models", "config", "stats", "infer",
                                 "load",   "unload", "bench", "health"};

TEST(CliTest, WithoutArgumentsItTeachesAndFails) {
  const CliRun run = RunReprise({});
  EXPECT_EQ(run.code, ExitCode::kUsage);
  EXPECT_EQ(run.out, "");
  for (const char* command : kCommands) {
    EXPECT_THAT(run.err, HasSubstr(command));
  }
}

TEST(CliTest, EveryCommandHasHelpWithExamplesAndExitCodes) {
  for (const char* command : kCommands) {
    const CliRun run = RunReprise({command, "--help"});
    EXPECT_EQ(run.code, ExitCode::kOk);
    EXPECT_THAT(run.out, StartsWith(std::string("Usage: reprise ") + command));
    EXPECT_THAT(run.out, HasSubstr("Examples:\n  reprise "));
    EXPECT_THAT(run.out, HasSubstr("Exit codes"));
    EXPECT_THAT(run.out, HasSubstr("--server HOST:PORT"));
    EXPECT_EQ(RunReprise({"help", command}).out, run.out);
  }
  EXPECT_EQ(RunReprise({"--help"}).code, ExitCode::kOk);
  EXPECT_THAT(RunReprise({"--version"}).out, StartsWith("reprise 0."));
}

TEST(CliTest, AnUnknownCommandIsOneLine) {
  const CliRun run = RunReprise({"modles"});
  EXPECT_EQ(run.code, ExitCode::kUsage);
  EXPECT_EQ(
      run.err,
      "reprise: unknown command \"modles\" (reprise --help lists them)\n");
}

TEST(CliTest, AnUnknownFlagIsOneLine) {
  const CliRun run = RunReprise({"models", "--sever", "x"});
  EXPECT_EQ(run.code, ExitCode::kUsage);
  EXPECT_EQ(run.err,
            "reprise models: unknown flag --sever; did you mean --server? "
            "(reprise models --help lists the flags)\n");
}

TEST(CliTest, AServerThatIsNotThereIsTwo) {
  const CliRun run = RunReprise({"models", "--server", "localhost:1"});
  EXPECT_EQ(run.code, ExitCode::kUnreachable);
  EXPECT_THAT(run.err, StartsWith("reprise models: UNAVAILABLE: "));
  EXPECT_THAT(run.err, HasSubstr("(server localhost:1)\n"));
}

TEST(CliTest, AnErrorOfTheServersIsOneLineAndThree) {
  FakeServer server;
  server.service().FailNext({grpc::StatusCode::INTERNAL, "one\ntwo"});
  const CliRun run = RunReprise({"models", "--server", server.address()});
  EXPECT_EQ(run.code, ExitCode::kRpcError);
  EXPECT_EQ(run.err, "reprise models: INTERNAL: one; two (server " +
                         server.address() + ")\n");
  EXPECT_EQ(run.out, "");
}

}  // namespace
}  // namespace reprise::client
