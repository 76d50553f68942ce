// UTF-8, which every text of a message must be.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace reprise::client {

// INVALID_ARGUMENT unless `text` is UTF-8.
absl::Status CheckUtf8(absl::string_view text);

}  // namespace reprise::client
