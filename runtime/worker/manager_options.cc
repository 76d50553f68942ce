#include "runtime/worker/manager_options.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/model/contained_file.h"
#include "runtime/model/repository.h"

namespace reprise {
namespace {

void CheckPlaces(const ModelManagerOptions& options,
                 std::vector<std::string>& faults) {
  const bool single =
      !options.model_name.empty() || !options.model_path.empty();
  if (single && (options.model_name.empty() || options.model_path.empty())) {
    faults.emplace_back("--model-name and --model-path go together");
  }
  if (single && !options.repositories.empty()) {
    faults.emplace_back("either --model-repository or --model-path, not both");
  }
  if (!single && options.repositories.empty()) {
    faults.emplace_back("--model-repository (or --model-path) is missing");
  }
  for (const std::string& repository : options.repositories) {
    const auto folder = ResolveFolder(repository);
    if (!folder.ok()) {
      faults.push_back(
          absl::StrCat("--model-repository: ", folder.status().message()));
    }
  }
  std::error_code error;
  if (!options.model_path.empty() &&
      !std::filesystem::exists(options.model_path, error)) {
    faults.push_back(absl::StrCat("--model-path: '", options.model_path,
                                  "' does not exist"));
  }
}

}  // namespace

absl::Status CheckManagerOptions(const ModelManagerOptions& options) {
  std::vector<std::string> faults;
  CheckPlaces(options, faults);
  if (!options.load_models.empty() && options.mode != ControlMode::kExplicit) {
    faults.emplace_back("--load-model needs --model-control-mode=explicit");
  }
  std::vector<std::string> names = options.load_models;
  if (!options.model_name.empty()) names.push_back(options.model_name);
  if (!options.config_name.empty()) names.push_back(options.config_name);
  for (const std::string& name : names) {
    const absl::Status valid = CheckPathComponent(name);
    if (!valid.ok()) faults.emplace_back(valid.message());
  }
  if (options.mode == ControlMode::kPoll &&
      options.poll_interval <= absl::ZeroDuration()) {
    faults.emplace_back("--repository-poll-secs must be positive");
  }
  if (options.default_max_batch_size < 1) {
    faults.emplace_back("--default-max-batch-size must be positive");
  }
  if (options.max_queue_requests < 1 || options.max_queue_bytes < 1 ||
      options.max_message_bytes < 1) {
    faults.emplace_back("bounds of queues and messages must be positive");
  }
  if (options.load_threads < 1) {
    faults.emplace_back("--model-load-thread-count must be positive");
  }
  if (faults.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(faults, "; "));
}

}  // namespace reprise
