// One model version made ready, step by step.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/batch/batch_output.h"
#include "runtime/device/device.h"
#include "runtime/device/executable.h"
#include "runtime/graph/graph.h"
#include "runtime/model/config_parameters.h"
#include "runtime/model/config_parse.h"
#include "runtime/model/model_config.h"
#include "runtime/model/repository.h"
#include "runtime/model/warmup.h"
#include "runtime/tensor/signature.h"

namespace reprise {

struct LoaderOptions {
  int default_max_batch_size = 32;
  bool strict_config = false;  // configurations must be there, and complete
  std::string config_name;     // configs/<this>.pbtxt, where a model has it
  int64_t max_message_bytes = int64_t{256} << 20;
  ConfigBounds bounds;
  bool gpus = false;  // whether the devices are GPUs
};

// A model's configuration as it was given, checked without the model. One for
// all of its versions.
struct ModelDefinition {
  ParsedConfig config;
  ConfigParameters parameters;
  std::vector<std::string> warnings;  // lines for the log
};

// Step 1. The configuration: `json` if it is set, else configs/<name>.pbtxt,
// else config.pbtxt, else an empty one. Errors are INVALID_ARGUMENT with all
// faults in one message, the file's name in front; NOT_FOUND: there is none,
// but strict_config wants one.
absl::StatusOr<ModelDefinition> ReadDefinition(
    const ModelSource& source, const std::optional<std::string>& json,
    const LoaderOptions& options);

// A version that needs nothing but a device.
struct ImportedVersion {
  std::string name;
  int64_t version = 0;
  std::shared_ptr<const graph::Graph> graph;
  Signature signature;
  ModelConfig config;
  std::vector<WarmupRequest> warmup;
  std::vector<std::string> notes;     // for the log: why it is not batched, ...
  std::vector<std::string> warnings;  // likewise, louder

  std::string text() const;  // "digits/1"
};

// Step 2. Reads and imports the file, infers the signature, completes the
// configuration and holds the two against each other. What the file and its
// constants take is held against `memory`, that of the device, before it is
// taken (admission.h): RESOURCE_EXHAUSTED with the sizes. Errors name what is
// wrong and keep the code of the step that found it.
absl::StatusOr<ImportedVersion> ImportVersion(const ModelSource& source,
                                              int64_t version,
                                              const ModelDefinition& definition,
                                              const LoaderOptions& options,
                                              const DeviceMemory& memory);

// Weights on a device, and the variants that are prepared at load: those that
// the configuration names, or the only one of a model without free dims.
struct PreparedVersion {
  struct Variant {
    VariantKey key;
    std::vector<std::unique_ptr<Executable>> lanes;
  };

  std::unique_ptr<LoadedModel> loaded;
  std::vector<Variant> variants;  // destroyed before `loaded`
};

// Step 3. On a loader's thread, beside serving. RESOURCE_EXHAUSTED when the
// weights do not fit, else as Device::Load and LoadedModel::Prepare;
// INVALID_ARGUMENT if the dims of an output are not those that the
// configuration claims, or if it names a fusion that the device does not have.
absl::StatusOr<PreparedVersion> PrepareVersion(const ImportedVersion& imported,
                                               Device& device);

}  // namespace reprise
