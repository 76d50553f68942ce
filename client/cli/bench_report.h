// What `reprise bench` prints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/bench/driver.h"
#include "client/cli/format.h"
#include "client/cli/server_split.h"

namespace reprise::client {

// One measured step: a load, and what came of it.
struct BenchStep {
  std::string model;
  std::string server;
  std::string date;            // RFC 3339, when it began
  std::string load;            // "64 callers", "1000/s poisson"
  int concurrency = 0;         // closed loop, else 0
  std::optional<double> rate;  // open loop
  int connections = 1;
  int64_t batch = 1;  // rows of a request
  LoadResult result;
  // An error: why there are no statistics; UNIMPLEMENTED: the server has none.
  absl::StatusOr<ServerSplit> split;
};

// Several lines.
std::string StepText(const BenchStep& step);

// One row each.
std::string StepsTable(const std::vector<BenchStep>& steps);

// The fields of ghz's JSON output (durations in nanoseconds, marks of the
// histogram in seconds), without `details`; what ghz has no field for stands
// under "reprise". Latencies are of calls answered OK.
Json StepJson(const BenchStep& step);

// One line on a second of the run.
std::string ProgressText(const LoadProgress& progress);

}  // namespace reprise::client
