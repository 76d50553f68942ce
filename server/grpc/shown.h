// Names that callers chose, as error messages show them.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace reprise {

// In single quotes, control characters escaped, cut after 64 bytes: a message
// must fit in a trailer, whatever the caller sent.
std::string Shown(absl::string_view name);

// `message` with "[request id: <id>] " in front, if there is an id.
std::string WithRequestId(absl::string_view id, absl::string_view message);

}  // namespace reprise
