#include "absl/strings/str_cat.h"
#include "client/files.h"
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
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
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class BenchTest : public ::testing::Test {
 protected:
  CliRun Bench(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"bench", "digits"});
    arguments.insert(arguments.end(),
                     {"--warmup", "0s", "--server", server_.address()});
    return RunReprise(arguments);
  }

  FakeServer server_;
};

TEST_F(BenchTest, ClosedLoopReportsCallsLatencyAndTheServersSplit) {
  const CliRun run = Bench({"--concurrency", "4", "--connections", "2",
                            "--requests", "200", "--batch", "2"});
  EXPECT_EQ(run.code, ExitCode::kOk) << run.err;
  EXPECT_THAT(run.out,
              AllOf(StartsWith("digits: 4 callers, 2 connections, batch 2\n"
                               "  calls    200 in "),
                    HasSubstr("  errors   none\n"), HasSubstr("  p99.9 "),
                    HasSubstr("  server   queue 100 us  input 0  infer 200 us "
                              " output 0  overhead "),
                    HasSubstr("  batches  200 with 1 rows on average: 200 of "
                              "1\n")));
  EXPECT_EQ(server_.service().last_infer().inputs(0).shape(0), 2);
}

TEST_F(BenchTest, JsonIsOneObjectForOneStep) {
  const CliRun run = Bench({"--requests", "50", "--json"});
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["count"], 50);
  EXPECT_EQ(json["statusCodeDistribution"]["OK"], 50);
  EXPECT_EQ(json["reprise"]["server"]["requests"], 50);
  EXPECT_EQ(json["options"]["host"], server_.address());
}

TEST_F(BenchTest, ARangeIsStepsAndATable) {
  const CliRun run = Bench({"--concurrency", "1:5:2", "--requests", "20"});
  EXPECT_THAT(
      run.out,
      AllOf(HasSubstr("digits: 1 caller,"), HasSubstr("digits: 3 callers,"),
            HasSubstr("digits: 5 callers,"), HasSubstr("LOAD")));
  const CliRun json =
      Bench({"--concurrency", "1:2", "--requests", "20", "--json"});
  EXPECT_EQ(nlohmann::json::parse(json.out).size(), 2U);
}

TEST_F(BenchTest, OpenLoopSendsAtItsRate) {
  const CliRun run = Bench({"--rate", "1000", "--distribution", "constant",
                            "--duration", "100ms", "--json"});
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(
      json["count"].get<int64_t>() + json["reprise"]["unsent"].get<int64_t>(),
      100);
  EXPECT_EQ(json["options"]["rps"], 1000);
  EXPECT_EQ(json["reprise"]["load"], "1000/s constant");
}

TEST_F(BenchTest, ARateMayBeAFraction) {
  const CliRun run = Bench({"--rate", "62.5", "--distribution", "constant",
                            "--requests", "2", "--json"});
  EXPECT_EQ(run.code, ExitCode::kOk) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["options"]["rps"], 62.5);
  EXPECT_EQ(json["reprise"]["load"], "62.5/s constant");
}

TEST_F(BenchTest, FailedCallsArePartOfTheReport) {
  // Metadata, the first inference and the statistics must pass; the report's
  // calls come after them.
  const CliRun passed = Bench({"--requests", "5"});
  ASSERT_EQ(passed.code, ExitCode::kOk);
  for (int i = 0; i < 3; ++i) server_.service().FailNext(grpc::Status::OK);
  for (int i = 0; i < 2; ++i) {
    server_.service().FailNext({grpc::StatusCode::RESOURCE_EXHAUSTED, "full"});
  }
  const CliRun run = Bench({"--requests", "5"});
  EXPECT_EQ(run.code, ExitCode::kOk);
  EXPECT_THAT(run.out, AllOf(HasSubstr("errors   2 RESOURCE_EXHAUSTED"),
                             HasSubstr("2 x RESOURCE_EXHAUSTED: full")));
}

TEST_F(BenchTest, NothingAnsweredIsAnError) {
  for (int i = 0; i < 3; ++i) server_.service().FailNext(grpc::Status::OK);
  for (int i = 0; i < 5; ++i) {
    server_.service().FailNext({grpc::StatusCode::RESOURCE_EXHAUSTED, "full"});
  }
  const CliRun run = Bench({"--requests", "5"});
  EXPECT_EQ(run.code, ExitCode::kRpcError);
  EXPECT_THAT(run.err,
              StartsWith("reprise bench: RESOURCE_EXHAUSTED: no call was "
                         "answered OK; RESOURCE_EXHAUSTED: full"));
}

TEST_F(BenchTest, FilesAreRepeatedToTheBatchAndRowsAreThoseSent) {
  const std::string path = TempPath("bench.pgm");
  ASSERT_THAT(WriteFile(path, "P5 8 8 255\n" + std::string(64, 'x')), IsOk());
  const CliRun four =
      Bench({"--input", path, "--batch", "4", "--requests", "2", "--json"});
  EXPECT_EQ(four.code, ExitCode::kOk) << four.err;
  EXPECT_EQ(nlohmann::json::parse(four.out)["reprise"]["batch"], 4);
  EXPECT_EQ(server_.service().last_infer().inputs(0).shape(0), 4);
  const CliRun two =
      Bench({"--input", path, "--input", path, "--requests", "2"});
  EXPECT_THAT(two.out, HasSubstr("batch 2\n"));
}

TEST_F(BenchTest, AServerThatIsGoneAtTheEndIsTold) {
  // Metadata, the first inference, the statistics and two calls pass.
  for (int i = 0; i < 5; ++i) server_.service().FailNext(grpc::Status::OK);
  server_.service().FailNext({grpc::StatusCode::UNAVAILABLE, "going"});
  const CliRun run = Bench({"--requests", "2"});
  EXPECT_EQ(run.code, ExitCode::kOk) << run.err;
  EXPECT_THAT(run.out, HasSubstr("  server   its statistics are missing: "
                                 "UNAVAILABLE: going\n"));
}

TEST_F(BenchTest, TheRateOfAnswersThatAreOkStandsBesideTheOther) {
  for (int i = 0; i < 3; ++i) server_.service().FailNext(grpc::Status::OK);
  for (int i = 0; i < 3; ++i) {
    server_.service().FailNext({grpc::StatusCode::RESOURCE_EXHAUSTED, "full"});
  }
  const auto json =
      nlohmann::json::parse(Bench({"--requests", "4", "--json"}).out);
  EXPECT_NEAR(json["reprise"]["okPerSecond"].get<double>() * 4,
              json["rps"].get<double>(), 1e-6 * json["rps"].get<double>());
}

TEST_F(BenchTest, WhatTheServerRefusesIsToldAtOnce) {
  server_.service().FailNext(grpc::Status::OK);
  server_.service().FailNext({grpc::StatusCode::INVALID_ARGUMENT, "no"});
  const CliRun run = Bench({"--requests", "1000000"});
  EXPECT_EQ(run.code, ExitCode::kRpcError);
  EXPECT_EQ(server_.service().calls(), 2);
}

TEST_F(BenchTest, WrongFlagsAreOne) {
  EXPECT_EQ(Bench({"--rate", "5", "--concurrency", "5"}).code,
            ExitCode::kUsage);
  EXPECT_EQ(Bench({"--rate", "0"}).code, ExitCode::kUsage);
  EXPECT_EQ(Bench({"--distribution", "gauss"}).code, ExitCode::kUsage);
  EXPECT_EQ(Bench({"--duration", "0s"}).code, ExitCode::kUsage);
}

}  // namespace
}  // namespace reprise::client
