// Whole files in and out.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace reprise::client {

// NOT_FOUND with the path and the system's reason.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// Replaces the file. FAILED_PRECONDITION with the path and the system's reason.
absl::Status WriteFile(const std::string& path, absl::string_view bytes);

}  // namespace reprise::client
