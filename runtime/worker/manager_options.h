// What a model manager is told at start.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace reprise {

enum class ControlMode { kNone, kExplicit, kPoll };

struct ModelManagerOptions {
  std::vector<std::string> repositories;  // --model-repository, repeatable
  std::string model_name;                 // --model-name with --model-path:
  std::string model_path;                 //   one model in any KServe layout
  ControlMode mode = ControlMode::kNone;
  std::vector<std::string> load_models;  // --load-model; "*" means all
  absl::Duration poll_interval = absl::Seconds(15);  // --repository-poll-secs
  std::string config_name;                           // --model-config-name
  bool strict_config = false;  // --disable-auto-complete-config
  bool strict_readiness = true;
  int default_max_batch_size = 32;
  int64_t max_queue_requests = 1024;
  int64_t max_queue_bytes = int64_t{256} << 20;
  int64_t max_message_bytes = int64_t{256} << 20;
  int load_threads = 1;  // --model-load-thread-count
};

// What is wrong with the values, each by itself, in words that name the flag.
// Looks at the repositories' folders.
std::vector<std::string> ManagerValueFaults(const ModelManagerOptions& options);
// What is missing, or does not go together.
std::vector<std::string> ManagerCombinationFaults(
    const ModelManagerOptions& options);

// INVALID_ARGUMENT lists every fault of both kinds at once.
absl::Status CheckManagerOptions(const ModelManagerOptions& options);

}  // namespace reprise
