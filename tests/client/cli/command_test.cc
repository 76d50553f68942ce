#include "client/cli/command.h"

#include "gmock/gmock.h"
#include "tests/client/cli/run_cli.h"

namespace reprise::client {
namespace {

using reprise::client::testing::CliRun;
using reprise::client::testing::RunReprise;

TEST(CommandTest, SaysWhichArgumentIsMissing) {
  const CliRun run = RunReprise({"config"});
  EXPECT_EQ(run.code, ExitCode::kUsage);
  EXPECT_EQ(run.err, "reprise config: it needs MODEL\n");
}

TEST(CommandTest, SaysWhichArgumentIsTooMuch) {
  const CliRun run = RunReprise({"unload", "a", "b"});
  EXPECT_EQ(run.code, ExitCode::kUsage);
  EXPECT_EQ(run.err, "reprise unload: unexpected argument \"b\"\n");
}

TEST(CommandTest, AModelsNameIsUtf8) {
  for (const char* command :
       {"config", "stats", "infer", "load", "unload", "bench"}) {
    const CliRun run = RunReprise({command, "a\xFF"});
    EXPECT_EQ(run.code, ExitCode::kUsage);
    EXPECT_EQ(run.err, std::string("reprise ") + command +
                           ": MODEL: \"a\\xff\" is not UTF-8\n");
  }
  EXPECT_EQ(RunReprise({"health", "a\xFF"}).err,
            "reprise health: SERVICE: \"a\\xff\" is not UTF-8\n");
}

}  // namespace
}  // namespace reprise::client
