// Sends one request over and over, and measures the answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/bench/histogram.h"
#include "client/bench/schedule.h"
#include "grpcpp/channel.h"
#include "grpcpp/support/byte_buffer.h"

namespace reprise::client {

// What to send and how. Closed loop: `concurrency` callers, each of which asks
// again when it has its answer. Open loop: `rate` is set, calls leave when they
// are due, however many are under way.
struct Load {
  std::string method = "/inference.GRPCInferenceService/ModelInfer";
  grpc::ByteBuffer request;  // encoded once, sent as it is
  std::vector<std::pair<std::string, std::string>> headers;

  int concurrency = 1;
  std::optional<double> rate;  // calls a second
  Distribution distribution = Distribution::kPoisson;
  uint64_t seed = 1;
  // Open loop: a call that is due while so many are under way leaves late; its
  // latency counts from when it was due.
  int max_in_flight = 10'000;

  // The run stops sending at whichever comes first, and waits for what is
  // under way; what has no answer after `drain` is cancelled.
  std::chrono::nanoseconds duration = std::chrono::seconds(10);
  int64_t max_calls = INT64_MAX;
  std::chrono::nanoseconds drain = std::chrono::seconds(30);

  // Each call's gRPC deadline; zero: none, which is a little cheaper.
  std::chrono::nanoseconds deadline{0};
};

// What came of it. Latencies are those of calls answered OK, from the instant
// at which the call was due (closed loop: at which it was sent).
struct LoadResult {
  Histogram latency;
  int64_t calls = 0;                      // answered in any way
  std::map<int, int64_t> by_code;         // grpc::StatusCode -> calls
  std::map<std::string, int64_t> errors;  // message -> calls, at most 20
  int64_t late = 0;    // left more than a millisecond after it was due
  int64_t unsent = 0;  // due, but never left: the answers were too slow
  std::chrono::nanoseconds elapsed{0};  // first call due to last answer
  bool interrupted = false;

  int64_t ok() const;
  double rate() const;  // answers a second
};

// What Drive tells while it runs.
struct LoadProgress {
  std::chrono::nanoseconds elapsed{0};
  int64_t calls = 0;   // since the start
  int64_t failed = 0;  // since the start
  int64_t in_flight = 0;
  double rate = 0;  // of the last interval
  int64_t p50 = 0;  // of the last interval, ns
  int64_t p99 = 0;
};

struct DriveHooks {
  // Called about once a second, on the driving thread.
  std::function<void(const LoadProgress&)> progress;
  // Asked often; true stops sending, as if the time were up.
  std::function<bool()> stop;
};

// Runs `load` on the calling thread, over `channels` in turn, through one
// completion queue, without locks or threads of its own.
// `channels` must not be empty.
LoadResult Drive(const std::vector<std::shared_ptr<grpc::Channel>>& channels,
                 const Load& load, const DriveHooks& hooks = {});

}  // namespace reprise::client
