#include "tests/bench/simulator/simulator.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise::bench {
namespace {

// A tenth of what simulate_policy runs by default: enough for the bounds below.
constexpr int kRequests = 6'000;

struct Cell {
  int slo_ms;
  Process process;
  double load;
};

std::vector<Cell> Cells() {
  return {{10, Process::kPoisson, 0.6},  {10, Process::kPoisson, 0.9},
          {10, Process::kPoisson, 1.2},  {10, Process::kPoisson, 1.5},
          {10, Process::kGammaCv4, 0.6}, {10, Process::kGammaCv4, 1.0},
          {10, Process::kGammaCv4, 1.5}, {10, Process::kMmpp, 0.3},
          {10, Process::kMmpp, 0.8},     {25, Process::kGammaCv4, 0.9},
          {25, Process::kGammaCv4, 1.2}, {25, Process::kMmpp, 0.6}};
}

SimulationOptions Options(const Cell& cell) {
  SimulationOptions options;
  options.slo = absl::Milliseconds(cell.slo_ms);
  options.process = cell.process;
  options.load = cell.load;
  options.requests = kRequests;
  return options;
}

SimulationResult RunCell(const Cell& cell, const std::string& policy) {
  return Simulate(Options(cell), *PolicyByName(policy));
}

std::string Text(const Cell& cell) {
  return std::to_string(cell.slo_ms) + " ms " + ProcessName(cell.process) +
         " at " + std::to_string(cell.load);
}

TEST(SimulatorTest, TheServersPolicyIsNowhereBehindNexus) {
  for (const Cell& cell : Cells()) {
    EXPECT_GE(RunCell(cell, "v3").in_time,
              RunCell(cell, "nexus").in_time - 0.005)
        << Text(cell);
  }
}

TEST(SimulatorTest, TheServersPolicyBeatsWhatIgnoresDeadlines) {
  for (const Cell& cell : Cells()) {
    EXPECT_GE(RunCell(cell, "v3").in_time,
              RunCell(cell, "tfcost").in_time - 0.005)
        << Text(cell);
    EXPECT_GE(RunCell(cell, "v3").in_time,
              RunCell(cell, "earliest").in_time - 0.005)
        << Text(cell);
  }
}

TEST(SimulatorTest, AtOnePercentJitterNoAnswerIsLate) {
  for (const Cell& cell : Cells()) {
    EXPECT_EQ(RunCell(cell, "v3").late, 0) << Text(cell);
  }
}

TEST(SimulatorTest, OverloadKeepsTheCapacityUseful) {
  EXPECT_GE(RunCell({10, Process::kPoisson, 1.2}, "v3").in_time, 0.75);
  EXPECT_GE(RunCell({10, Process::kPoisson, 1.5}, "v3").in_time, 0.60);
}

TEST(SimulatorTest, EveryRequestIsAnsweredOrDroppedOnce) {
  for (const char* name :
       {"fifo", "delay:2", "tfcost", "earliest", "nexus", "v3"}) {
    const SimulationResult result = RunCell({10, Process::kMmpp, 0.8}, name);
    EXPECT_DOUBLE_EQ(result.in_time + result.late + result.dropped, 1) << name;
  }
}

TEST(SimulatorTest, AdmissionRefusesEarlyAndCostsNothing) {
  SimulationOptions options = Options({10, Process::kPoisson, 1.5});
  const Policy policy = *PolicyByName("v3");
  const double without = Simulate(options, policy).in_time;
  options.admission = true;
  EXPECT_GE(Simulate(options, policy).in_time, without - 0.02);
}

TEST(SimulatorTest, TheSameSeedGivesTheSameResult) {
  const Cell cell{10, Process::kGammaCv4, 0.9};
  EXPECT_EQ(RunCell(cell, "v3").in_time, RunCell(cell, "v3").in_time);
}

}  // namespace
}  // namespace reprise::bench
