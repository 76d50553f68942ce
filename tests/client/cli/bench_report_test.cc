#include "client/cli/bench_report.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace reprise::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

BenchStep Step() {
  BenchStep step;
  step.model = "digits";
  step.server = "localhost:8001";
  step.date = "2026-01-02T03:04:05Z";
  step.load = "4 callers";
  step.concurrency = 4;
  step.connections = 2;
  step.batch = 8;
  for (int i = 1; i <= 100; ++i) step.result.latency.Record(i * 100'000);
  step.result.calls = 103;
  step.result.by_code = {{0, 100}, {8, 2}, {14, 1}};
  step.result.errors = {{"RESOURCE_EXHAUSTED: full", 2}, {"UNAVAILABLE: x", 1}};
  step.result.elapsed = std::chrono::seconds(2);
  ServerSplit split;
  split.requests = 100;
  split.rows = 800;
  split.batches = 50;
  split.queue_ns = 1e6;
  split.input_ns = 1e3;
  split.infer_ns = 2e6;
  split.output_ns = 2e3;
  split.batches_by_size = {{8, 10}, {16, 40}};
  step.split = split;
  return step;
}

TEST(BenchReportTest, TextHasEveryFigure) {
  EXPECT_EQ(
      StepText(Step()),
      "digits: 4 callers, 2 connections, batch 8\n"
      "  calls    103 in 2.00 s: 51.5/s, OK 50/s, rows 400/s\n"
      "  errors   2 RESOURCE_EXHAUSTED, 1 UNAVAILABLE\n"
      "  latency  p50 5.01 ms  p90 9.04 ms  p99 9.96 ms  p99.9 10.0 ms  "
      "max 10.0 ms  mean 5.05 ms\n"
      "  server   queue 1.00 ms  input 1.00 us  infer 2.00 ms  output 2.00 us "
      " overhead 2.05 ms\n"
      "  batches  50 with 14.4 rows on average: 10 of 8, 40 of 16\n"
      "  2 x RESOURCE_EXHAUSTED: full\n"
      "  1 x UNAVAILABLE: x\n");
}

TEST(BenchReportTest, TextTellsWhatTheClientCouldNotDo) {
  BenchStep step = Step();
  step.split = absl::UnimplementedError("no such method");
  step.result.late = 5;
  step.result.unsent = 1'000;
  step.result.interrupted = true;
  const std::string text = StepText(step);
  EXPECT_THAT(text, HasSubstr("it has no statistics"));
  EXPECT_THAT(text, HasSubstr("5 calls left more than 1 ms after"));
  EXPECT_THAT(text, HasSubstr("1,000 calls were due and never left"));
  EXPECT_THAT(text, HasSubstr("(interrupted)"));
  EXPECT_THAT(text, Not(HasSubstr("batches ")));
}

TEST(BenchReportTest, ServersWithoutFiguresAreExplained) {
  BenchStep step = Step();
  step.split = absl::UnavailableError("gone\naway");
  EXPECT_THAT(StepText(step),
              HasSubstr("  server   its statistics are missing: "
                        "UNAVAILABLE: gone; away\n"));
  EXPECT_EQ(StepJson(step)["reprise"]["serverError"],
            "UNAVAILABLE: gone; away");
  step.split = ServerSplit();
  EXPECT_THAT(StepText(step),
              HasSubstr("server   it answered no request OK\n"));
  EXPECT_THAT(StepText(step), Not(HasSubstr("queue 0")));
  step.split->restarted = true;
  EXPECT_THAT(StepText(step), HasSubstr("server   its statistics began anew"));
  EXPECT_THAT(StepText(step), Not(HasSubstr("queue 0")));
  step = Step();
  step.split->restarted = true;
  EXPECT_THAT(StepText(step), HasSubstr("statistics began anew"));
  EXPECT_THAT(StepText(step), HasSubstr("server   queue 1.00 ms"));
  EXPECT_EQ(StepJson(step)["reprise"]["server"]["restarted"], true);
}

TEST(BenchReportTest, AMessageIsOneLine) {
  BenchStep step = Step();
  step.result.errors = {{"INTERNAL: a\nb", 3}};
  EXPECT_THAT(StepText(step), HasSubstr("  3 x INTERNAL: a; b\n"));
}

TEST(BenchReportTest, JsonHasTheFieldsOfGhz) {
  const Json json = StepJson(Step());
  EXPECT_EQ(json["count"], 103);
  EXPECT_EQ(json["total"], 2'000'000'000);
  EXPECT_EQ(json["average"], 5'050'000);
  EXPECT_EQ(json["fastest"], 100'000);
  EXPECT_EQ(json["slowest"], 10'000'000);
  EXPECT_DOUBLE_EQ(json["rps"], 51.5);
  EXPECT_EQ(json["endReason"], "normal");
  EXPECT_EQ(json["errorDistribution"]["UNAVAILABLE: x"], 1);
  EXPECT_EQ(json["statusCodeDistribution"]["OK"], 100);
  EXPECT_EQ(json["statusCodeDistribution"]["ResourceExhausted"], 2);
  EXPECT_EQ(json["latencyDistribution"].size(), 8U);
  EXPECT_EQ(json["latencyDistribution"][2]["percentage"], 50);
  EXPECT_EQ(json["options"]["concurrency"], 4);
  EXPECT_EQ(json["reprise"]["rowsPerSecond"], 400);
  EXPECT_EQ(json["reprise"]["server"]["queue"], 1e6);
  EXPECT_EQ(json["reprise"]["server"]["batchesBySize"]["16"], 40);
  EXPECT_EQ(json["reprise"]["server"]["rowsPerBatch"], 14.4);
}

TEST(BenchReportTest, TheHistogramCountsEveryCallOnce) {
  const Json marks = StepJson(Step())["histogram"];
  ASSERT_EQ(marks.size(), 11U);
  int64_t count = 0;
  double frequency = 0;
  for (const Json& mark : marks) {
    count += mark["count"].get<int64_t>();
    frequency += mark["frequency"].get<double>();
  }
  EXPECT_EQ(count, 100);
  EXPECT_NEAR(frequency, 1, 1e-9);
  EXPECT_DOUBLE_EQ(marks[10]["mark"], 0.01);
}

TEST(BenchReportTest, AnOpenLoopNamesItsRate) {
  BenchStep step = Step();
  step.rate = 500;
  const Json options = StepJson(step)["options"];
  EXPECT_EQ(options["rps"], 500);
  EXPECT_FALSE(options.contains("concurrency"));
}

TEST(BenchReportTest, NothingAnsweredIsNoDivisionByZero) {
  BenchStep step = Step();
  step.result = LoadResult();
  step.split = ServerSplit();
  EXPECT_THAT(StepText(step), HasSubstr("0 in 0.00 s"));
  const Json json = StepJson(step);
  EXPECT_TRUE(json["latencyDistribution"].empty());
  EXPECT_TRUE(json["histogram"].empty());
  EXPECT_EQ(json["rps"], 0.0);
}

TEST(BenchReportTest, StepsAreRows) {
  const std::string table = StepsTable({Step(), Step()});
  EXPECT_THAT(table, HasSubstr("LOAD    RATE    OK"));
  EXPECT_THAT(table, HasSubstr("4 callers  51.5/s  50/s  5.01 ms"));
}

TEST(BenchReportTest, ProgressIsOneLine) {
  EXPECT_EQ(ProgressText({std::chrono::seconds(3), 1000, 2, 64, 12'345.4,
                          1'000'000, 2'000'000}),
            "   3 s  12,345/s  p50 1.00 ms  p99 2.00 ms  64 under way  2 "
            "failed");
}

}  // namespace
}  // namespace reprise::client
