// One device, one model, simulated: the server's queue and policy against a
// table of times.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/time/time.h"
#include "runtime/tensor/ladder.h"
#include "tests/bench/simulator/arrivals.h"
#include "tests/bench/simulator/baselines.h"

namespace reprise::bench {

enum class TimeTable {
  kAffine,  // 0.55 ms + 0.115 ms a row: ResNet-50's shape
  kStep,    // the affine time of the next multiple of 16
  kFlat,    // 4 ms + 0.061 ms a row: fixed cost rules
};

struct SimulationOptions {
  TimeTable table = TimeTable::kAffine;
  std::vector<int> sizes = {1, 2, 4, 8, 16, 32, 64};
  Process process = Process::kPoisson;
  double load = 0.8;  // arrivals by the capacity of the largest size
  absl::Duration slo = absl::Milliseconds(10);
  double jitter = 0.01;  // sigma of the log-normal factor on each run's time
  double tail = 0;       // share of runs that take three times as long
  // To copy one row in, and as much to copy one out, beside the runs: a batch
  // is copied in while the one before it runs. Zero: copies cost nothing.
  absl::Duration copy_row;
  double margin = 0.03;    // of the table's p99.9 over its p50
  bool admission = false;  // refuse at arrival, too
  int requests = 60'000;
  uint64_t seed = 1;
};

struct SimulationResult {
  double in_time = 0;  // answered in time, of all offered
  double late = 0;     // answered late, of all offered
  double dropped = 0;  // never run
  double busy = 0;     // share of the time
  double mean_rows = 0;
  absl::Duration p50;  // latency of the answered
  absl::Duration p99;
};

absl::Duration TableTime(TimeTable table, int rows);
// p99.9 has the margin and the copies in it, p50 the run alone.
Ladder TableLadder(const SimulationOptions& options);

SimulationResult Simulate(const SimulationOptions& options,
                          const Policy& policy);

// The highest load, in steps of `step`, at which at least 99 % are in time.
double Knee(SimulationOptions options, const Policy& policy, double step);

}  // namespace reprise::bench
