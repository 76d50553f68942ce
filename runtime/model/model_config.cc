#include "runtime/model/model_config.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/model/config_parameters.h"
#include "runtime/tensor/ladder.h"

namespace reprise {
namespace {

using Group = inference::ModelInstanceGroup;

QueuePolicy MakeQueuePolicy(const inference::ModelQueuePolicy& policy) {
  QueuePolicy made;
  made.timeout_action =
      policy.timeout_action() == inference::ModelQueuePolicy::DELAY
          ? QueuePolicy::TimeoutAction::kDelay
          : QueuePolicy::TimeoutAction::kReject;
  const uint64_t timeout = std::min<uint64_t>(
      policy.default_timeout_microseconds(),
      static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
  made.default_timeout = absl::Microseconds(static_cast<int64_t>(timeout));
  made.max_queue_size = policy.max_queue_size();
  return made;
}

BatchConfig MakeBatchConfig(const inference::ModelConfig& config,
                            const ConfigParameters& parameters,
                            const ConfigBounds& bounds) {
  BatchConfig batch;
  const auto& batching = config.dynamic_batching();
  batch.dynamic_batching = config.has_dynamic_batching();
  const uint64_t delay = std::min<uint64_t>(
      batching.max_queue_delay_microseconds(),
      static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
  batch.max_queue_delay = absl::Microseconds(static_cast<int64_t>(delay));
  // The maximum alone, to which an empty list is completed, is no preference:
  // a full batch goes at once anyway.
  const auto& sizes = batching.preferred_batch_size();
  if (std::any_of(sizes.begin(), sizes.end(),
                  [&](int size) { return size != config.max_batch_size(); })) {
    batch.preferred_sizes.assign(sizes.begin(), sizes.end());
    std::sort(batch.preferred_sizes.begin(), batch.preferred_sizes.end());
  }
  batch.preserve_ordering = batching.preserve_ordering();
  batch.priority_levels = batching.priority_levels();
  batch.default_priority = batching.default_priority_level();
  batch.default_queue = MakeQueuePolicy(batching.default_queue_policy());
  for (const auto& [level, policy] : batching.priority_queue_policy()) {
    batch.priority_queues[level] = MakeQueuePolicy(policy);
  }
  batch.slo = parameters.slo;
  batch.max_queue_requests = bounds.max_queue_requests;
  batch.max_queue_bytes = bounds.max_queue_bytes;
  batch.max_variants = parameters.max_variants;
  return batch;
}

void SetLadder(const inference::ModelConfig& proto, const Signature& signature,
               ModelConfig& config, std::vector<std::string>& faults) {
  config.ladder = {1};
  if (!signature.batched) return;
  std::vector<int> sizes;
  for (const auto& spec : proto.optimization().cuda().graph_spec()) {
    if (spec.batch_size() > 0) sizes.push_back(spec.batch_size());
  }
  if (sizes.empty()) sizes = config.batch.preferred_sizes;
  config.ladder_configured = !sizes.empty();
  if (sizes.empty()) {
    config.ladder = DefaultLadder(signature.max_batch);
    return;
  }
  auto ladder = ConfiguredLadder(std::move(sizes), signature.max_batch);
  if (ladder.ok()) {
    config.ladder = *std::move(ladder);
  } else {
    faults.push_back(absl::StrCat("batch ladder: ", ladder.status().message()));
  }
}

void SetDevices(const inference::ModelConfig& proto, ModelConfig& config) {
  config.instances = 0;
  std::set<int> devices;
  bool gpu = false;
  bool cpu = false;
  for (const Group& group : proto.instance_group()) {
    config.instances += std::max(group.count(), 1);
    devices.insert(group.gpus().begin(), group.gpus().end());
    gpu = gpu || group.kind() == Group::KIND_GPU;
    cpu = cpu || group.kind() == Group::KIND_CPU;
  }
  config.instances = std::max(config.instances, 1);
  config.devices.assign(devices.begin(), devices.end());
  if (gpu) config.kind = DeviceKind::kGpu;
  if (cpu && !gpu) config.kind = DeviceKind::kCpu;
}

// A variant must bind every free dim, and nothing at odds with a fixed one.
void CheckVariant(const std::map<std::string, int64_t>& variant,
                  const Signature& signature,
                  const ConfigParameters& parameters,
                  std::vector<std::string>& faults) {
  const auto& free = signature.free_symbols;
  for (const std::string& symbol : free) {
    if (!variant.contains(symbol)) {
      faults.push_back(absl::StrCat(
          "parameter variants: a variant does not bind '", symbol, "'"));
    }
  }
  for (const auto& [symbol, extent] : variant) {
    const auto range = parameters.dims.find(symbol);
    const bool bounded = range != parameters.dims.end();
    if (!bounded && std::find(free.begin(), free.end(), symbol) == free.end()) {
      faults.push_back(
          absl::StrCat("parameter variants: '", symbol,
                       "' is no free dim of the model, which has ",
                       free.empty() ? "none" : absl::StrJoin(free, ", ")));
    } else if (bounded &&
               (extent < range->second.low || extent > range->second.high)) {
      faults.push_back(absl::StrCat("parameter variants: ", symbol, "=", extent,
                                    " is outside dim.", symbol));
    }
  }
}

}  // namespace

absl::StatusOr<ModelConfig> BuildModelConfig(
    const inference::ModelConfig& completed, const Signature& signature,
    const ConfigParameters& parameters, const ConfigBounds& bounds) {
  std::vector<std::string> faults;
  ModelConfig config;
  config.proto = completed;
  config.batch = MakeBatchConfig(completed, parameters, bounds);
  SetLadder(completed, signature, config, faults);
  SetDevices(completed, config);
  config.precision = parameters.precision;
  config.dims = parameters.dims;
  config.fusions_off = parameters.fusions_off;
  for (const auto& variant : parameters.variants) {
    CheckVariant(variant, signature, parameters, faults);
  }
  config.variants = parameters.variants;
  if (config.variants.size() > static_cast<size_t>(parameters.max_variants)) {
    faults.push_back(
        absl::StrCat("parameter variants: names ", config.variants.size(),
                     " variants; max_variants is ", parameters.max_variants));
  }
  if (!faults.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("configuration: ", absl::StrJoin(faults, "; ")));
  }
  return config;
}

Dims VariantKeyOf(const Signature& signature,
                  const std::map<std::string, int64_t>& values) {
  Dims key;
  for (const std::string& symbol : signature.free_symbols) {
    key.push_back(values.at(symbol));
  }
  return key;
}

}  // namespace reprise
