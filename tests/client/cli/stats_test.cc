#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/client/cli/run_cli.h"
#include "tests/client/fake_service.h"

namespace reprise::client {
namespace {

using reprise::client::testing::CliRun;
using reprise::client::testing::FakeServer;
using reprise::client::testing::RunReprise;

void InferTwice(const FakeServer& server) {
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(
        RunReprise({"infer", "digits", "zeros", "--server", server.address()})
            .code,
        ExitCode::kOk);
  }
}

TEST(StatsTest, IsATableOfAllModels) {
  const FakeServer server;
  InferTwice(server);
  const CliRun run = RunReprise({"stats", "--server", server.address()});
  EXPECT_EQ(run.code, ExitCode::kOk);
  EXPECT_EQ(
      run.out,
      "MODEL   VERSION  REQUESTS  FAILED  ROWS  BATCHES  MEAN BATCH   "
      "QUEUE  INPUT   INFER  OUTPUT   TOTAL\n"
      "digits  1               2       0     2        2           1  "
      "100 us      0  200 us       0  300 us\n"
      "simple  1               0       0     0        0           -       "
      "-      -       -       -       -\n");
}

TEST(StatsTest, OneModelShowsItsBatchSizes) {
  const FakeServer server;
  InferTwice(server);
  const CliRun run =
      RunReprise({"stats", "digits", "--server", server.address()});
  EXPECT_THAT(run.out, ::testing::EndsWith(
                           "\nversion 1, by batch size\n"
                           "BATCH SIZE  BATCHES  INPUT   INFER  OUTPUT\n"
                           "         1        2      -  200 us       -\n"));
}

TEST(StatsTest, JsonHasCountsAndNanoseconds) {
  const FakeServer server;
  InferTwice(server);
  const CliRun run =
      RunReprise({"stats", "digits", "--json", "--server", server.address()});
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json[0]["inference_count"], 2);
  EXPECT_EQ(json[0]["inference_stats"]["queue"]["ns"], 200'000);
  EXPECT_EQ(json[0]["batch_stats"][0]["batch_size"], 1);
}

TEST(StatsTest, AVersionNeedsAModel) {
  const CliRun run = RunReprise({"stats", "--model-version", "7"});
  EXPECT_EQ(run.code, ExitCode::kUsage);
  EXPECT_EQ(run.err, "reprise stats: --model-version needs a MODEL\n");
}

TEST(StatsTest, AnUnknownModelIsThree) {
  const FakeServer server;
  EXPECT_EQ(RunReprise({"stats", "nothing", "--server", server.address()}).code,
            ExitCode::kRpcError);
}

}  // namespace
}  // namespace reprise::client
