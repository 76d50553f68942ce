#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/client/cli/run_cli.h"
#include "tests/client/fake_service.h"

namespace reprise::client {
namespace {

using reprise::client::testing::CliRun;
using reprise::client::testing::FakeServer;
using reprise::client::testing::RunReprise;

TEST(ModelsTest, IsATable) {
  const FakeServer server;
  const CliRun run =
      RunReprise({"models"}, {{"REPRISE_SERVER", server.address()}});
  EXPECT_EQ(run.code, ExitCode::kOk);
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.out,
            "MODEL   VERSION  STATE        REASON\n"
            "digits  1        READY\n"
            "simple  1        UNAVAILABLE  unloaded\n");
}

TEST(ModelsTest, OnlyThoseThatServe) {
  const FakeServer server;
  const CliRun run =
      RunReprise({"models", "--ready", "--server", server.address()});
  EXPECT_EQ(run.out,
            "MODEL   VERSION  STATE  REASON\n"
            "digits  1        READY\n");
}

TEST(ModelsTest, IsJsonWhenAsked) {
  const FakeServer server;
  const CliRun run =
      RunReprise({"models", "--json", "--server", server.address()});
  const auto json = nlohmann::json::parse(run.out);
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[1]["name"], "simple");
  EXPECT_EQ(json[1]["state"], "UNAVAILABLE");
  EXPECT_EQ(json[1]["reason"], "unloaded");
}

}  // namespace
}  // namespace reprise::client
