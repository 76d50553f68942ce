// Is a configuration one that Reprise can serve? Looked at without the model.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/model_config.pb.h"

namespace reprise {

// The largest max_batch_size.
inline constexpr int kMaxBatchLimit = 1 << 16;

// Sentences, each about one field and naming it.
struct ConfigFindings {
  // Contradictions, values out of bounds, and fields that change answers and
  // are not served: any of them refuses the model.
  std::vector<std::string> faults;
  // Fields that change no answer and have no effect here.
  std::vector<std::string> ignored;
  // Parameters that are not ours (config_parameters.h), and have none either.
  std::vector<std::string> unknown;

  // INVALID_ARGUMENT with all faults in one message, `where` in front; OK
  // without one.
  absl::Status status(absl::string_view where) const;
  // One line for the log that names what is ignored or not known; empty
  // without any.
  std::string warning() const;
};

// `model` is the folder's name, which a `name` in the file must equal.
ConfigFindings CheckConfig(const inference::ModelConfig& config,
                           absl::string_view model);

}  // namespace reprise
