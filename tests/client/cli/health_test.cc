#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/client/cli/run_cli.h"
#include "tests/client/fake_service.h"

namespace reprise::client {
namespace {

using reprise::client::testing::CliRun;
using reprise::client::testing::FakeServer;
using reprise::client::testing::RunReprise;
using ::testing::HasSubstr;

TEST(HealthTest, ServingIsZero) {
  const FakeServer server;
  const CliRun run = RunReprise({"health", "--server", server.address()});
  EXPECT_EQ(run.code, ExitCode::kOk);
  EXPECT_EQ(run.out, "SERVING\n");
  EXPECT_THAT(
      RunReprise({"health", "digits", "--json", "--server", server.address()})
          .out,
      HasSubstr("\"service\": \"digits\",\n  \"status\": \"SERVING\""));
}

TEST(HealthTest, NotServingIsFour) {
  const FakeServer server;
  const CliRun run =
      RunReprise({"health", "simple", "--server", server.address()});
  EXPECT_EQ(run.code, ExitCode::kNotServing);
  EXPECT_EQ(run.out, "NOT_SERVING\n");
}

TEST(HealthTest, AnUnknownServiceIsThree) {
  const FakeServer server;
  const CliRun run =
      RunReprise({"health", "nothing", "--server", server.address()});
  EXPECT_EQ(run.code, ExitCode::kRpcError);
  EXPECT_THAT(run.err, HasSubstr("NOT_FOUND"));
}

TEST(HealthTest, NoConnectionIsTwo) {
  EXPECT_EQ(RunReprise({"health", "--server", "localhost:1"}).code,
            ExitCode::kUnreachable);
  EXPECT_EQ(RunReprise({"health", "--timeout", "20ms", "--server",
                        "unix:/no/such.sock"})
                .code,
            ExitCode::kUnreachable);
}

TEST(HealthTest, AWrongArgumentIsOne) {
  EXPECT_EQ(RunReprise({"health", "a", "b"}).code, ExitCode::kUsage);
  EXPECT_EQ(RunReprise({"health", "--timeout", "soon"}).code, ExitCode::kUsage);
}

}  // namespace
}  // namespace reprise::client
