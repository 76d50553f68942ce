// Prints the comparison of batching policies: simulate_policy [REQUESTS [SEED]]
// The last policy is the server's own object code.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tests/bench/simulator/simulator.h"

namespace reprise::bench {
namespace {

struct Cell {
  int slo_ms;
  Process process;
  double load;
  TimeTable table = TimeTable::kAffine;
};

const std::vector<std::string>& PolicyNames() {
  static const auto* const names = new std::vector<std::string>{
      "fifo", "delay:2", "tfcost", "earliest", "nexus", "v3"};
  return *names;
}

std::vector<Cell> Cells() {
  std::vector<Cell> cells;
  const auto add = [&](int slo_ms, Process process,
                       const std::vector<double>& loads,
                       TimeTable table = TimeTable::kAffine) {
    for (const double load : loads) {
      cells.push_back({slo_ms, process, load, table});
    }
  };
  add(10, Process::kPoisson, {0.6, 0.8, 0.9, 1.0, 1.2, 1.5});
  add(10, Process::kGammaCv4, {0.6, 0.8, 1.0, 1.5});
  add(10, Process::kMmpp, {0.3, 0.8});
  add(25, Process::kGammaCv4, {0.9, 1.2});
  add(25, Process::kMmpp, {0.6});
  add(10, Process::kPoisson, {0.9}, TimeTable::kStep);
  add(10, Process::kPoisson, {0.9}, TimeTable::kFlat);
  add(10, Process::kGammaCv4, {1.2}, TimeTable::kStep);
  add(10, Process::kGammaCv4, {1.2}, TimeTable::kFlat);
  return cells;
}

const char* TableName(TimeTable table) {
  switch (table) {
    case TimeTable::kAffine:
      return "affine";
    case TimeTable::kStep:
      return "step";
    case TimeTable::kFlat:
      return "flat";
  }
  return "unknown";
}

void PrintHeader(const char* title) {
  std::printf("%s\n%-7s %6s %-10s %5s", title, "times", "SLO ms", "arrivals",
              "load");
  for (const std::string& name : PolicyNames()) {
    std::printf(" %9s", name.c_str());
  }
}

void PrintFractions(SimulationOptions options) {
  PrintHeader("Fraction answered inside the SLO (v3: late, p99 ms, rows)");
  std::printf("\n");
  for (const Cell& cell : Cells()) {
    options.slo = absl::Milliseconds(cell.slo_ms);
    options.process = cell.process;
    options.load = cell.load;
    options.table = cell.table;
    std::printf("%-7s %6d %-10s %5.2f", TableName(cell.table), cell.slo_ms,
                ProcessName(cell.process), cell.load);
    SimulationResult last;
    for (const std::string& name : PolicyNames()) {
      last = Simulate(options, *PolicyByName(name));
      std::printf(" %9.3f", last.in_time);
    }
    std::printf("   %.4f %5.2f %5.1f\n", last.late,
                absl::ToDoubleMilliseconds(last.p99), last.mean_rows);
  }
}

// What it is worth that times are known, and what copies cost.
void PrintJitter(SimulationOptions options) {
  struct Model {
    const char* name;
    double jitter;
    double tail;
    double margin;
    absl::Duration copy_row;
  };
  constexpr absl::Duration kCopyRow = absl::Microseconds(12);  // 150 KB
  const std::vector<Model> models = {{"0.5 %", 0.005, 0, 0.03, {}},
                                     {"1 %", 0.01, 0, 0.03, {}},
                                     {"10 %", 0.1, 0, 0.03, {}},
                                     {"30 %", 0.3, 0, 0.03, {}},
                                     {"30 %, margin", 0.3, 0, 0.30, {}},
                                     {"1 % x3 tail", 0.01, 0.01, 0.03, {}},
                                     {"1 %, copies", 0.01, 0, 0.03, kCopyRow}};
  std::printf("\n10 ms Poisson, affine: in time and late, by jitter (v3)\n");
  for (const Model& model : models) {
    options.jitter = model.jitter;
    options.tail = model.tail;
    options.margin = model.margin;
    options.copy_row = model.copy_row;
    std::printf("%-14s", model.name);
    for (const double load : {0.9, 1.2}) {
      options.load = load;
      const SimulationResult result = Simulate(options, *PolicyByName("v3"));
      std::printf("   load %.1f %.3f %.4f", load, result.in_time, result.late);
    }
    std::printf("\n");
  }
}

void PrintKnees(SimulationOptions options) {
  const std::vector<Cell> cells = {{10, Process::kPoisson, 0},
                                   {10, Process::kGammaCv2, 0},
                                   {10, Process::kGammaCv4, 0},
                                   {25, Process::kGammaCv4, 0}};
  std::printf("\n");
  PrintHeader("Knee: the highest load with at least 99 % in time");
  std::printf("\n");
  options.requests = options.requests / 2;
  for (const Cell& cell : cells) {
    options.slo = absl::Milliseconds(cell.slo_ms);
    options.process = cell.process;
    std::printf("%-7s %6d %-10s %5s", "affine", cell.slo_ms,
                ProcessName(cell.process), "");
    for (const std::string& name : PolicyNames()) {
      std::printf(" %9.2f", Knee(options, *PolicyByName(name), 0.01));
    }
    std::printf("\n");
  }
}

}  // namespace
}  // namespace reprise::bench

int main(int argc, char** argv) {
  reprise::bench::SimulationOptions options;
  if ((argc > 1 && !absl::SimpleAtoi(argv[1], &options.requests)) ||
      (argc > 2 && !absl::SimpleAtoi(argv[2], &options.seed)) ||
      options.requests < 1) {
    std::fprintf(stderr, "usage: simulate_policy [REQUESTS [SEED]]\n");
    return 2;
  }
  reprise::bench::PrintFractions(options);
  reprise::bench::PrintJitter(options);
  reprise::bench::PrintKnees(options);
  return 0;
}
