// A model's configuration: config.pbtxt, completed from the model, as structs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/model_config.pb.h"
#include "runtime/batch/batch_config.h"
#include "runtime/tensor/shape.h"
#include "runtime/tensor/signature.h"

namespace reprise {

enum class DeviceKind { kAuto, kGpu, kCpu };

// A free dim may be fixed (low == high) or bounded ("1..512").
struct DimRange {
  int64_t low = 1;
  int64_t high = INT64_MAX;
};

// What the rest of the server reads. `proto` is what the ModelConfig RPC shows:
// the file's fields, completed.
struct ModelConfig {
  inference::ModelConfig proto;
  BatchConfig batch;
  std::vector<int> ladder;         // ascending; {1} when not batched
  bool ladder_configured = false;  // then no rung is dropped
  DeviceKind kind = DeviceKind::kAuto;
  std::vector<int> devices;  // instance_group.gpus; empty: all
  int instances = 1;         // lanes a device, summed over the groups
  std::string precision = "tf32";
  std::map<std::string, DimRange> dims;                    // by symbol
  std::vector<std::map<std::string, int64_t>> variants;    // to prepare at load
  std::vector<std::string> fusions_off;                    // device.h
  std::map<std::string, std::vector<std::string>> labels;  // by output
};

// What the flags decide for every model.
struct ConfigBounds {
  int64_t max_queue_requests = 1024;
  int64_t max_queue_bytes = int64_t{256} << 20;
};

struct ConfigParameters;  // config_parameters.h

// The structs of a configuration that is checked and completed (config_check.h,
// config_complete.h), for a model with this signature. The completed one, given
// as a configuration, comes out the same: preferred_batch_size that lists the
// maximum alone, as completion does, asks for nothing. INVALID_ARGUMENT with
// every fault at once: a ladder out of bounds, a variant that does not bind all
// free dims or binds one outside its range. `labels` stay empty: they are
// files.
absl::StatusOr<ModelConfig> BuildModelConfig(
    const inference::ModelConfig& completed, const Signature& signature,
    const ConfigParameters& parameters, const ConfigBounds& bounds);

// The key of a variant that `values` name, in the order of
// signature.free_symbols. All of them must be there.
Dims VariantKeyOf(const Signature& signature,
                  const std::map<std::string, int64_t>& values);

}  // namespace reprise
