#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/client/cli/run_cli.h"
#include "tests/client/fake_service.h"

namespace reprise::client {
namespace {

using reprise::client::testing::CliRun;
using reprise::client::testing::FakeServer;
using reprise::client::testing::RunReprise;

TEST(ConfigTest, IsTheTextOfAConfigPbtxt) {
  const FakeServer server;
  const CliRun run =
      RunReprise({"config", "digits", "--server", server.address()});
  EXPECT_EQ(run.code, ExitCode::kOk);
  EXPECT_EQ(run.out, "name: \"digits\"\nmax_batch_size: 32\n");
}

TEST(ConfigTest, JsonKeepsTheFieldsNames) {
  const FakeServer server;
  const CliRun run =
      RunReprise({"config", "digits", "--json", "--server", server.address()});
  EXPECT_EQ(nlohmann::json::parse(run.out)["max_batch_size"], 32);
}

TEST(ConfigTest, AnUnknownModelIsThree) {
  const FakeServer server;
  const CliRun run =
      RunReprise({"config", "nothing", "--server", server.address()});
  EXPECT_EQ(run.code, ExitCode::kRpcError);
  EXPECT_EQ(run.err,
            "reprise config: NOT_FOUND: model \"nothing\" is not known "
            "(server " +
                server.address() + ")\n");
}

}  // namespace
}  // namespace reprise::client
