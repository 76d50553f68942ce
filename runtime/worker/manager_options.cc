#include "runtime/worker/manager_options.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "runtime/model/contained_file.h"

namespace reprise {
namespace {

void CheckPlaces(const ModelManagerOptions& options,
                 std::vector<std::string>& faults) {
  std::error_code error;
  for (const std::string& repository : options.repositories) {
    if (!std::filesystem::is_directory(repository, error)) {
      faults.push_back(absl::StrCat("--model-repository: '", repository,
                                    "' is not a directory"));
    }
  }
  if (!options.model_path.empty() &&
      !std::filesystem::exists(options.model_path, error)) {
    faults.push_back(absl::StrCat("--model-path: '", options.model_path,
                                  "' does not exist"));
  }
}

void CheckNames(const ModelManagerOptions& options,
                std::vector<std::string>& faults) {
  std::vector<std::string> names = options.load_models;
  if (!options.model_name.empty()) names.push_back(options.model_name);
  if (!options.config_name.empty()) names.push_back(options.config_name);
  for (const std::string& name : names) {
    const absl::Status valid = CheckPathComponent(name);
    if (!valid.ok()) faults.emplace_back(valid.message());
  }
  if (options.load_models.size() > 1 &&
      std::count(options.load_models.begin(), options.load_models.end(), "*")) {
    faults.emplace_back("--load-model=* must be the only --load-model");
  }
}

}  // namespace

std::vector<std::string> ManagerValueFaults(
    const ModelManagerOptions& options) {
  std::vector<std::string> faults;
  CheckPlaces(options, faults);
  CheckNames(options, faults);
  if (options.mode == ControlMode::kPoll &&
      options.poll_interval <= absl::ZeroDuration()) {
    faults.emplace_back("--repository-poll-secs must be above 0");
  }
  const auto positive = [&faults](absl::string_view flag, int64_t value) {
    if (value >= 1) return;
    faults.push_back(absl::StrCat(flag, " must be at least 1, got ", value));
  };
  positive("--default-max-batch-size", options.default_max_batch_size);
  positive("--max-queue-requests", options.max_queue_requests);
  positive("--max-queue-bytes", options.max_queue_bytes);
  positive("--grpc-max-message-bytes", options.max_message_bytes);
  positive("--model-load-thread-count", options.load_threads);
  return faults;
}

std::vector<std::string> ManagerCombinationFaults(
    const ModelManagerOptions& options) {
  std::vector<std::string> faults;
  if (options.repositories.empty() && options.model_path.empty()) {
    faults.emplace_back(
        "nothing to serve: give --model-repository=DIR, or --model-name=NAME "
        "with --model-path=DIR");
  }
  if (options.model_name.empty() != options.model_path.empty()) {
    faults.emplace_back("--model-name and --model-path go together");
  }
  if (!options.repositories.empty() && !options.model_path.empty()) {
    faults.emplace_back(
        "--model-repository and --model-path exclude each other");
  }
  if (!options.load_models.empty() && options.mode != ControlMode::kExplicit) {
    faults.emplace_back("--load-model needs --model-control-mode=explicit");
  }
  return faults;
}

absl::Status CheckManagerOptions(const ModelManagerOptions& options) {
  std::vector<std::string> faults = ManagerValueFaults(options);
  for (std::string& fault : ManagerCombinationFaults(options)) {
    faults.push_back(std::move(fault));
  }
  if (faults.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(faults, "; "));
}

}  // namespace reprise
