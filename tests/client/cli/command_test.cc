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

}  // namespace
}  // namespace reprise::client
