#include "gmock/gmock.h"
#include "tests/client/cli/run_cli.h"
#include "tests/client/fake_service.h"

namespace reprise::client {
namespace {

using reprise::client::testing::CliRun;
using reprise::client::testing::FakeServer;
using reprise::client::testing::RunReprise;

TEST(UnloadTest, UnloadsAndSaysSo) {
  FakeServer server;
  const CliRun run =
      RunReprise({"unload", "digits", "--server", server.address()});
  EXPECT_EQ(run.code, ExitCode::kOk);
  EXPECT_EQ(run.out, "digits is unloaded\n");
  EXPECT_EQ(server.service().last_unload().model_name(), "digits");
  EXPECT_TRUE(server.service().last_unload().parameters().empty());
}

TEST(UnloadTest, TakesDependentsAlong) {
  FakeServer server;
  const CliRun run = RunReprise({"unload", "digits", "--dependents", "--json",
                                 "--server", server.address()});
  EXPECT_THAT(run.out, ::testing::HasSubstr("\"loaded\": false"));
  EXPECT_TRUE(server.service()
                  .last_unload()
                  .parameters()
                  .at("unload_dependents")
                  .bool_param());
}

TEST(UnloadTest, ARefusalIsTheServersCode) {
  FakeServer server;
  server.service().FailNext({grpc::StatusCode::INTERNAL, "still ready"});
  const CliRun run =
      RunReprise({"unload", "digits", "--server", server.address()});
  EXPECT_EQ(run.code, ExitCode::kRpcError);
  EXPECT_EQ(run.out, "");
}

}  // namespace
}  // namespace reprise::client
