// What the daemon is told at start-up, as structs.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "runtime/base/log.h"
#include "runtime/worker/model_manager.h"
#include "server/grpc/grpc_options.h"

namespace reprise {

struct MetricsOptions {
  bool enabled = true;                // --allow-metrics
  std::string address = "127.0.0.1";  // --metrics-address
  int port = 8002;                    // --metrics-port; 0: any that is free
};

enum class DeviceChoice {
  kAuto,  // GPUs if there are any, else the CPU with a warning
  kCpu,
  kCuda,  // a start-up error without a usable GPU
};

// What the answers of a GPU are held against while a model is loaded.
enum class VerifyChoice { kNone, kCpu };

struct ServerOptions {
  GrpcOptions grpc;
  MetricsOptions metrics;
  ModelManagerOptions models;
  LogOptions log;
  std::string log_file;  // empty: standard error
  DeviceChoice device = DeviceChoice::kAuto;
  std::string gpus = "all";  // or which: indices or UUIDs, with commas
  int cpu_threads = 0;       // 0: as many as cores
  absl::Duration watchdog = absl::Seconds(1);  // infinite: none
  bool strict_graphs = true;                   // --strict-graphs
  VerifyChoice verify = VerifyChoice::kNone;
  absl::Duration load_step = absl::Milliseconds(5);
  int load_share_percent = 20;  // of a GPU's time, while batches come
  bool exit_on_error = false;   // --exit-on-error
  // From the end of accepting to exit; what is then unanswered gets
  // UNAVAILABLE, and the exit code says so.
  absl::Duration exit_timeout = absl::Seconds(30);
  // From SIGTERM (not ready any more) to the end of accepting.
  absl::Duration lame_duck = absl::Seconds(5);
};

// Every fault, in words that name the flag; empty if there is none.
std::vector<std::string> Validate(const ServerOptions& options);

// Only those that a value has by itself, whatever else was said: for options
// that do not have all that was said, since it was not understood.
std::vector<std::string> ValidateValues(const ServerOptions& options);

// What is no fault, since Triton's command lines may have it, but hardly meant.
std::vector<std::string> Doubts(const ServerOptions& options);

}  // namespace reprise
