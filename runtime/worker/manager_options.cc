#include "runtime/worker/manager_options.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "runtime/model/config_check.h"
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
  const auto check = [&faults](absl::string_view flag,
                               const std::string& name) {
    const absl::Status valid = CheckPathComponent(name);
    if (valid.ok()) return;
    faults.push_back(absl::StrCat(flag, ": ", valid.message()));
  };
  for (const std::string& name : options.load_models) {
    check("--load-model", name);
  }
  if (!options.model_name.empty()) check("--model-name", options.model_name);
  if (!options.config_name.empty()) {
    check("--model-config-name", options.config_name);
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
  const int default_max_batch = options.default_max_batch_size;
  if (default_max_batch < 1 || default_max_batch > kMaxBatchLimit) {
    faults.push_back(absl::StrCat("--default-max-batch-size must lie in [1, ",
                                  kMaxBatchLimit, "], got ",
                                  default_max_batch));
  }
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
