#include "tests/bench/simulator/simulator.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise::bench {
namespace {

// A tenth of what simulate_policy runs by default: enough to compare policies
// on the same arrivals.
constexpr int kRequests = 6'000;

struct Cell {
  int slo_ms;
  Process process;
  double load;
};

std::vector<Cell> Cells(const std::vector<double>& loads = {0.3, 0.6, 0.8, 0.9,
                                                            1.0, 1.2, 1.5}) {
  std::vector<Cell> cells;
  for (const int slo_ms : {10, 25}) {
    for (const Process process :
         {Process::kPoisson, Process::kGammaCv4, Process::kMmpp}) {
      for (const double load : loads) {
        cells.push_back({slo_ms, process, load});
      }
    }
  }
  return cells;
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

// How runs and copies take their time.
SimulationOptions With(SimulationOptions options, double jitter,
                       double tail = 0, absl::Duration copy_row = {}) {
  options.jitter = jitter;
  options.tail = tail;
  options.copy_row = copy_row;
  return options;
}

std::string Text(const Cell& cell) {
  return std::to_string(cell.slo_ms) + " ms " + ProcessName(cell.process) +
         " at " + std::to_string(cell.load);
}

void ExpectNowhereBehindNexus(const SimulationOptions& options, double points,
                              const std::string& text) {
  EXPECT_GE(Simulate(options, *PolicyByName("v3")).in_time,
            Simulate(options, *PolicyByName("nexus")).in_time - points / 100)
      << text;
}

// Each policy draws its own times: more requests even that out.
void ExpectNotBehindNexusWith(double jitter, double tail, double points) {
  for (const Cell& cell : Cells({0.6, 0.9, 1.2})) {
    SimulationOptions options = With(Options(cell), jitter, tail);
    options.requests = 30'000;
    ExpectNowhereBehindNexus(options, points, Text(cell));
  }
}

TEST(SimulatorTest, TheServersPolicyIsNowhereBehindNexus) {
  for (const Cell& cell : Cells()) {
    ExpectNowhereBehindNexus(Options(cell), 0.5, Text(cell));
    ExpectNowhereBehindNexus(
        With(Options(cell), 0.01, 0, absl::Microseconds(12)), 0.5,
        Text(cell) + " with copies");
  }
}

TEST(SimulatorTest, NorWhereTimesVaryByATenth) {
  ExpectNotBehindNexusWith(0.1, 0, 0.5);
}

TEST(SimulatorTest, NorWhereTheyVaryByAThird) {
  ExpectNotBehindNexusWith(0.3, 0, 2.0);
}

TEST(SimulatorTest, NorWhereOneRunInAHundredTakesThreeTimesAsLong) {
  ExpectNotBehindNexusWith(0.01, 0.01, 1.0);
}

// The published fractions, less a point; from as many requests.
TEST(SimulatorTest, TheFractionsInTimeAreThoseOfTheRecommendedPolicy) {
  const std::vector<std::pair<Cell, double>> published = {
      {{10, Process::kPoisson, 0.6}, 1.000},
      {{10, Process::kPoisson, 0.8}, 1.000},
      {{10, Process::kPoisson, 0.9}, 0.985},
      {{10, Process::kPoisson, 1.0}, 0.921},
      {{10, Process::kPoisson, 1.2}, 0.772},
      {{10, Process::kPoisson, 1.5}, 0.618},
      {{10, Process::kGammaCv4, 0.6}, 0.972},
      {{10, Process::kGammaCv4, 0.8}, 0.914},
      {{10, Process::kGammaCv4, 1.0}, 0.825},
      {{10, Process::kGammaCv4, 1.5}, 0.603},
      {{10, Process::kMmpp, 0.3}, 0.999},
      {{10, Process::kMmpp, 0.8}, 0.610},
      {{25, Process::kGammaCv4, 0.9}, 0.978},
      {{25, Process::kGammaCv4, 1.2}, 0.820},
      {{25, Process::kMmpp, 0.6}, 0.827}};
  for (const auto& [cell, in_time] : published) {
    SimulationOptions options = Options(cell);
    options.requests = 60'000;
    EXPECT_GE(Simulate(options, *PolicyByName("v3")).in_time, in_time - 0.01)
        << Text(cell);
  }
}

// The published knees, less a step of two points.
TEST(SimulatorTest, UpToTheKneeNinetyNineInAHundredAreInTime) {
  const std::vector<Cell> published = {{10, Process::kPoisson, 0.88},
                                       {10, Process::kGammaCv2, 0.76},
                                       {10, Process::kGammaCv4, 0.46},
                                       {25, Process::kGammaCv4, 0.85}};
  for (const Cell& cell : published) {
    SimulationOptions options = Options(cell);
    options.load -= 0.02;
    options.requests = 60'000;
    EXPECT_GE(Simulate(options, *PolicyByName("v3")).in_time, 0.99)
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
    const SimulationOptions copied =
        With(Options(cell), 0.01, 0, absl::Microseconds(12));
    EXPECT_EQ(Simulate(copied, *PolicyByName("v3")).late, 0)
        << Text(cell) << " with copies";
  }
}

// What times that are known are worth, as published: in time at loads of 0.9
// and 1.2, less a point.
TEST(SimulatorTest, JitterCostsNoMoreThanItShould) {
  struct Model {
    double jitter;
    double margin;
    double in_time[2];
    double late;  // at most
  };
  const std::vector<Model> published = {{0.005, 0.03, {0.984, 0.772}, 0},
                                        {0.30, 0.03, {0.876, 0.630}, 0.11},
                                        {0.30, 0.30, {0.840, 0.615}, 0.11}};
  for (const Model& model : published) {
    for (const int i : {0, 1}) {
      SimulationOptions options = With(
          Options({10, Process::kPoisson, i == 0 ? 0.9 : 1.2}), model.jitter);
      options.margin = model.margin;
      options.requests = 60'000;
      const SimulationResult result = Simulate(options, *PolicyByName("v3"));
      EXPECT_GE(result.in_time, model.in_time[i] - 0.01) << model.jitter;
      EXPECT_LE(result.late, model.late) << model.jitter;
    }
  }
}

TEST(SimulatorTest, CopiesHideBehindRuns) {
  // A copy of a batch of 64 takes a tenth of its run: were it not hidden, a
  // load of 0.85 would be too much.
  const SimulationOptions options = With(Options({25, Process::kPoisson, 0.85}),
                                         0.01, 0, absl::Microseconds(12));
  EXPECT_GE(Simulate(options, *PolicyByName("v3")).in_time, 0.99);
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
