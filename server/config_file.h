// The file of --config.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace reprise {

// Flags without dashes, with their values, in the file's order; a flag that may
// be repeated appears once for each value.
using Settings = std::vector<std::pair<std::string, std::string>>;

// Lines of `flag: value` with # comments, or one JSON object, whose values may
// be strings, numbers, true, false, or lists of them. Names may be written with
// underscores. INVALID_ARGUMENT lists every line that is neither.
absl::StatusOr<Settings> ParseConfig(absl::string_view text);

// As ParseConfig. NOT_FOUND: the file cannot be read. INVALID_ARGUMENT, too: it
// names another configuration file.
absl::StatusOr<Settings> ReadConfigFile(const std::string& path);

}  // namespace reprise
