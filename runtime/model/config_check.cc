#include "runtime/model/config_check.h"

#include <cstdint>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/model/config_types.h"

namespace reprise {
namespace {

using Config = inference::ModelConfig;

constexpr int kMaxInstances = 64;

struct Named {
  const char* field;
  bool present;
};

void AddPresent(std::initializer_list<Named> fields, absl::string_view prefix,
                absl::string_view suffix, std::vector<std::string>& out) {
  for (const Named& named : fields) {
    if (named.present) out.push_back(absl::StrCat(prefix, named.field, suffix));
  }
}

// What changes answers and is not served.
void CheckRefused(const Config& config, std::vector<std::string>& faults) {
  AddPresent(
      {{"sequence_batching", config.has_sequence_batching()},
       {"ensemble_scheduling", config.has_ensemble_scheduling()},
       {"model_transaction_policy.decoupled",
        config.model_transaction_policy().decoupled()},
       {"batch_input", config.batch_input_size() > 0},
       {"batch_output", config.batch_output_size() > 0},
       {"model_operations", config.has_model_operations()},
       {"model_repository_agents", config.has_model_repository_agents()}},
      "", " is not served", faults);
  for (const auto& input : config.input()) {
    AddPresent({{"reshape", input.has_reshape()},
                {"is_shape_tensor", input.is_shape_tensor()},
                {"allow_ragged_batch", input.allow_ragged_batch()},
                {"optional", input.optional()},
                {"is_non_linear_format_io", input.is_non_linear_format_io()}},
               absl::StrCat("input '", input.name(), "': "), " is not served",
               faults);
  }
  for (const auto& output : config.output()) {
    AddPresent({{"reshape", output.has_reshape()},
                {"is_shape_tensor", output.is_shape_tensor()},
                {"is_non_linear_format_io", output.is_non_linear_format_io()}},
               absl::StrCat("output '", output.name(), "': "), " is not served",
               faults);
  }
}

// What changes no answer and has no effect here.
void CheckIgnored(const Config& config, std::vector<std::string>& ignored) {
  const auto& optimization = config.optimization();
  AddPresent(
      {{"graph", optimization.has_graph()},
       {"priority", optimization.priority() != 0},
       {"execution_accelerators", optimization.has_execution_accelerators()},
       {"input_pinned_memory",
        optimization.has_input_pinned_memory() &&
            !optimization.input_pinned_memory().enable()},
       {"output_pinned_memory",
        optimization.has_output_pinned_memory() &&
            !optimization.output_pinned_memory().enable()},
       {"gather_kernel_buffer_threshold",
        optimization.gather_kernel_buffer_threshold() != 0},
       {"eager_batching", optimization.eager_batching()},
       {"cuda.busy_wait_events", optimization.cuda().busy_wait_events()},
       {"cuda.output_copy_stream", optimization.cuda().output_copy_stream()}},
      "optimization.", "", ignored);
  for (const auto& spec : optimization.cuda().graph_spec()) {
    if (spec.input_size() > 0 || spec.has_graph_lower_bound()) {
      ignored.emplace_back("optimization.cuda.graph_spec input, lower bound");
      break;
    }
  }
  std::set<std::string> of_groups;
  for (const auto& group : config.instance_group()) {
    std::vector<std::string> names;
    AddPresent({{"profile", group.profile_size() > 0},
                {"rate_limiter", group.has_rate_limiter()},
                {"passive", group.passive()},
                {"secondary_devices", group.secondary_devices_size() > 0},
                {"host_policy", !group.host_policy().empty()}},
               "instance_group.", "", names);
    of_groups.insert(names.begin(), names.end());
  }
  ignored.insert(ignored.end(), of_groups.begin(), of_groups.end());
  AddPresent({{"cc_model_filenames", config.cc_model_filenames_size() > 0},
              {"metric_tags", config.metric_tags_size() > 0},
              {"response_cache.enable", config.response_cache().enable()},
              {"runtime", !config.runtime().empty()},
              {"model_metrics", config.has_model_metrics()}},
             "", "", ignored);
}

template <typename Tensors>
void CheckTensors(const Tensors& tensors, absl::string_view kind,
                  std::vector<std::string>& faults) {
  std::set<std::string> seen;
  for (const auto& tensor : tensors) {
    const std::string where = absl::StrCat(kind, " '", tensor.name(), "'");
    if (tensor.name().empty()) {
      faults.push_back(absl::StrCat("an ", kind, " has no name"));
    } else if (!seen.insert(tensor.name()).second) {
      faults.push_back(absl::StrCat(where, " is listed twice"));
    }
    if (tensor.data_type() != inference::TYPE_INVALID &&
        !FromConfigType(tensor.data_type())) {
      faults.push_back(absl::StrCat(where, ": unknown data_type ",
                                    static_cast<int>(tensor.data_type())));
    }
    for (const int64_t dim : tensor.dims()) {
      if (dim < -1 || dim == 0) {
        faults.push_back(absl::StrCat(where, ": a dim is ", dim,
                                      "; it must be positive or -1"));
        break;
      }
    }
  }
}

void CheckGroups(const Config& config, std::vector<std::string>& faults) {
  int64_t instances = 0;
  for (const auto& group : config.instance_group()) {
    if (group.count() < 0) {
      faults.push_back(absl::StrCat("instance_group.count is ", group.count(),
                                    "; it must not be negative"));
    }
    instances += group.count() > 0 ? group.count() : 1;
    for (const int gpu : group.gpus()) {
      if (gpu < 0) {
        faults.push_back(absl::StrCat("instance_group.gpus names GPU ", gpu));
      }
    }
    if (group.kind() == inference::ModelInstanceGroup::KIND_CPU &&
        group.gpus_size() > 0) {
      faults.emplace_back("instance_group of KIND_CPU may not name gpus");
    }
  }
  if (instances > kMaxInstances) {
    faults.push_back(absl::StrCat("instance_group.count adds up to ", instances,
                                  "; at most ", kMaxInstances,
                                  " are served a device"));
  }
}

void CheckVersions(const Config& config, std::vector<std::string>& faults) {
  const auto& policy = config.version_policy();
  if (policy.has_specific() && policy.specific().versions_size() == 0) {
    faults.emplace_back("version_policy.specific names no version");
  }
  for (const int64_t version : policy.specific().versions()) {
    if (version < 1) {
      faults.push_back(absl::StrCat("version_policy.specific names version ",
                                    version, "; versions are >= 1"));
    }
  }
}

void CheckBatchSizes(const Config& config, std::vector<std::string>& faults) {
  const int max_batch = config.max_batch_size();
  if (max_batch < 0 || max_batch > kMaxBatchLimit) {
    faults.push_back(absl::StrCat("max_batch_size is ", max_batch,
                                  "; it must lie in [0, ", kMaxBatchLimit,
                                  "]"));
    return;
  }
  // Without a maximum the sizes are held against the completed one.
  for (const int size : config.dynamic_batching().preferred_batch_size()) {
    if (size < 1 || (max_batch > 0 && size > max_batch)) {
      faults.push_back(absl::StrCat("dynamic_batching.preferred_batch_size ",
                                    size,
                                    " does not lie in [1, max_batch_size]"));
    }
  }
  for (const auto& spec : config.optimization().cuda().graph_spec()) {
    if (spec.batch_size() < 0 ||
        (max_batch > 0 && spec.batch_size() > max_batch)) {
      faults.push_back(absl::StrCat("optimization.cuda.graph_spec.batch_size ",
                                    spec.batch_size(),
                                    " does not lie in [1, max_batch_size]"));
    }
  }
}

void CheckQueues(const Config& config, std::vector<std::string>& faults) {
  const auto& batching = config.dynamic_batching();
  const uint64_t levels = batching.priority_levels();
  const uint64_t level = batching.default_priority_level();
  if (levels > 0 && (level < 1 || level > levels)) {
    faults.push_back(
        absl::StrCat("dynamic_batching.default_priority_level is ", level,
                     "; it must lie in [1, priority_levels = ", levels, "]"));
  }
  if (levels == 0 && level > 0) {
    faults.emplace_back(
        "dynamic_batching.default_priority_level without priority_levels");
  }
  for (const auto& [of_level, unused] : batching.priority_queue_policy()) {
    if (of_level < 1 || of_level > levels) {
      faults.push_back(absl::StrCat(
          "dynamic_batching.priority_queue_policy names level ", of_level,
          "; levels lie in [1, priority_levels = ", levels, "]"));
    }
  }
}

void CheckBackend(const Config& config, std::vector<std::string>& faults) {
  if (!config.platform().empty() && config.platform() != "onnxruntime_onnx") {
    faults.push_back(absl::StrCat("platform '", config.platform(),
                                  "' is not served; ONNX models have platform "
                                  "'onnxruntime_onnx'"));
  }
  if (!config.backend().empty() && config.backend() != "onnxruntime") {
    faults.push_back(absl::StrCat("backend '", config.backend(),
                                  "' is not served; ONNX models have backend "
                                  "'onnxruntime'"));
  }
  const std::string& file = config.default_model_filename();
  if (file.find('/') != std::string::npos || file == "." || file == "..") {
    faults.push_back(absl::StrCat("default_model_filename '", file,
                                  "' is not the name of a file"));
  }
}

}  // namespace

absl::Status ConfigFindings::status(absl::string_view where) const {
  if (faults.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(where, ": ", absl::StrJoin(faults, "; ")));
}

std::string ConfigFindings::warning() const {
  std::vector<std::string> parts;
  if (!ignored.empty()) {
    parts.push_back(
        absl::StrCat("fields that are ignored, since they change no answer: ",
                     absl::StrJoin(ignored, ", ")));
  }
  if (!unknown.empty()) {
    parts.push_back(
        absl::StrCat("parameters that are not known here and have no effect: ",
                     absl::StrJoin(unknown, ", ")));
  }
  if (parts.empty()) return "";
  return absl::StrCat("the configuration has ", absl::StrJoin(parts, "; "));
}

ConfigFindings CheckConfig(const Config& config, absl::string_view model) {
  ConfigFindings findings;
  if (!config.name().empty() && config.name() != model) {
    findings.faults.push_back(absl::StrCat(
        "name is '", config.name(), "', but the model is '", model, "'"));
  }
  CheckBackend(config, findings.faults);
  CheckVersions(config, findings.faults);
  CheckBatchSizes(config, findings.faults);
  CheckQueues(config, findings.faults);
  CheckGroups(config, findings.faults);
  CheckTensors(config.input(), "input", findings.faults);
  CheckTensors(config.output(), "output", findings.faults);
  CheckRefused(config, findings.faults);
  CheckIgnored(config, findings.ignored);
  return findings;
}

}  // namespace reprise
