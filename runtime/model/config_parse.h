// config.pbtxt, or its JSON form, as a message.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/model_config.pb.h"

namespace reprise {

struct ParsedConfig {
  inference::ModelConfig proto;
  // Whether the text gives max_batch_size at all: a 0 that is written switches
  // batching off, a 0 that is not is completed from the model.
  bool has_max_batch_size = false;
};

// The largest configuration that is read, in bytes.
inline constexpr int64_t kMaxConfigBytes = int64_t{4} << 20;

// The text format of config.pbtxt. INVALID_ARGUMENT with every fault that the
// parser found, each with its line and column.
absl::StatusOr<ParsedConfig> ParseConfigText(absl::string_view text);

// The JSON form that a load request's `config` parameter carries.
// INVALID_ARGUMENT with the place and the fault; unknown fields are faults.
absl::StatusOr<ParsedConfig> ParseConfigJson(absl::string_view text);

}  // namespace reprise
