#include "server/grpc/repository_service.h"

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/base/status_macros.h"
#include "server/grpc/shown.h"

namespace reprise {
namespace {

using Parameter = inference::ModelRepositoryParameter;

constexpr absl::string_view kFilePrefix = "file:";

absl::Status CheckRepositoryName(const std::string& name) {
  if (name.empty()) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      "repository_name ", Shown(name), ": repositories cannot be named"));
}

absl::Status WrongType(absl::string_view model, absl::string_view key,
                       absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(
      "model ", Shown(model), ": invalid value type for parameter ", Shown(key),
      ", expected ", expected));
}

absl::Status ReadOverride(absl::string_view model, const std::string& key,
                          const Parameter& value, LoadOverrides* overrides) {
  if (key == "config") {
    if (value.parameter_choice_case() != Parameter::kStringParam) {
      return WrongType(model, key, "string_param");
    }
    overrides->config_json = value.string_param();
    return absl::OkStatus();
  }
  if (absl::StartsWith(key, kFilePrefix)) {
    if (value.parameter_choice_case() != Parameter::kBytesParam) {
      return WrongType(model, key, "bytes_param");
    }
    overrides->files[key.substr(kFilePrefix.size())] = value.bytes_param();
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "model ", Shown(model), ": unexpected parameter ", Shown(key),
      ", expected 'config' or 'file:<version>/<path>'"));
}

}  // namespace

absl::Status RepositoryIndex(const ModelManager& manager,
                             const inference::RepositoryIndexRequest& request,
                             inference::RepositoryIndexResponse* response) {
  REPRISE_RETURN_IF_ERROR(CheckRepositoryName(request.repository_name()));
  for (IndexEntry& entry : manager.Index()) {
    if (request.ready() && entry.state != VersionState::kReady) continue;
    inference::RepositoryIndexResponse::ModelIndex* const model =
        response->add_models();
    model->set_name(std::move(entry.name));
    model->set_version(std::move(entry.version));
    // A model that nobody has asked to load has no version and no state.
    if (entry.state != VersionState::kUnknown) {
      const absl::string_view state = StateName(entry.state);
      model->set_state(state.data(), state.size());
    }
    model->set_reason(std::move(entry.reason));
  }
  return absl::OkStatus();
}

absl::Status RepositoryModelLoad(
    ModelManager& manager, const inference::RepositoryModelLoadRequest& request,
    inference::RepositoryModelLoadResponse* /*response*/) {
  REPRISE_RETURN_IF_ERROR(CheckRepositoryName(request.repository_name()));
  LoadOverrides overrides;
  for (const auto& [key, value] : request.parameters()) {
    REPRISE_RETURN_IF_ERROR(
        ReadOverride(request.model_name(), key, value, &overrides));
  }
  return manager.Load(request.model_name(), overrides);
}

absl::Status RepositoryModelUnload(
    ModelManager& manager,
    const inference::RepositoryModelUnloadRequest& request,
    inference::RepositoryModelUnloadResponse* /*response*/) {
  REPRISE_RETURN_IF_ERROR(CheckRepositoryName(request.repository_name()));
  const auto dependents = request.parameters().find("unload_dependents");
  if (dependents != request.parameters().end() &&
      dependents->second.parameter_choice_case() != Parameter::kBoolParam) {
    return WrongType(request.model_name(), "unload_dependents", "bool_param");
  }
  return manager.Unload(request.model_name());
}

}  // namespace reprise
