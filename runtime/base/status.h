// Context for a Status on its way up.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace reprise {

// `status` with "where: " put in front of its message; code and payloads stay.
// An OK status is returned as it is.
absl::Status Annotate(const absl::Status& status, absl::string_view where);

}  // namespace reprise
