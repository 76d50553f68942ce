// What the server itself says of a time span: the difference of two
// ModelStatistics.
#pragma once

#include <cstdint>
#include <map>

#include "proto/grpc_service.pb.h"

namespace reprise::client {

// Means are nanoseconds of a request, zero if none was counted.
struct ServerSplit {
  // Statistics began anew meanwhile, as they do when a version is loaded again,
  // or went with a version: what was counted before is missing here.
  bool restarted = false;
  int64_t requests = 0;  // answered OK
  int64_t failed = 0;
  int64_t rows = 0;     // of requests answered OK
  int64_t batches = 0;  // run, whatever became of their requests
  double queue_ns = 0;
  double input_ns = 0;
  double infer_ns = 0;
  double output_ns = 0;
  std::map<int64_t, int64_t> batches_by_size;

  // Mean size of the batches that were run, rows of failed requests included.
  double rows_per_batch() const;
  double total_ns() const { return queue_ns + input_ns + infer_ns + output_ns; }
};

// The mean size of batches by size; what `rows` and `batches` give where a
// server does not tell the sizes. 0 without a batch.
double MeanBatch(const std::map<int64_t, int64_t>& batches_by_size,
                 int64_t rows, int64_t batches);

// How many batches of each size the version ran since it was loaded.
std::map<int64_t, int64_t> BatchesBySize(
    const inference::ModelStatistics& model);

// All versions together. A version whose counters went back (it was loaded
// again) counts from zero.
ServerSplit SplitBetween(const inference::ModelStatisticsResponse& before,
                         const inference::ModelStatisticsResponse& after);

// SplitBetween, for a client that alone had `answered` answers that are OK: if
// fewer were counted, the counters began anew and have caught up. Which version
// it was is unknown then, and all count from zero.
ServerSplit SplitOf(const inference::ModelStatisticsResponse& before,
                    const inference::ModelStatisticsResponse& after,
                    int64_t answered);

}  // namespace reprise::client
