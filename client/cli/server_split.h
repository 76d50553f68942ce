// What the server itself says of a time span: the difference of two
// ModelStatistics.
#pragma once

#include <cstdint>
#include <map>

#include "proto/grpc_service.pb.h"

namespace reprise::client {

// Means are nanoseconds of a request, zero if none was counted.
struct ServerSplit {
  int64_t requests = 0;  // answered OK
  int64_t failed = 0;
  int64_t rows = 0;
  int64_t batches = 0;
  double queue_ns = 0;
  double input_ns = 0;
  double infer_ns = 0;
  double output_ns = 0;
  std::map<int64_t, int64_t> batches_by_size;

  double rows_per_batch() const;
  double total_ns() const { return queue_ns + input_ns + infer_ns + output_ns; }
};

// All versions together. A version whose counters went back (it was loaded
// again) counts from zero.
ServerSplit SplitBetween(const inference::ModelStatisticsResponse& before,
                         const inference::ModelStatisticsResponse& after);

}  // namespace reprise::client
