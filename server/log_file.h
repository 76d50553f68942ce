// --log-file: the log in a file.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace reprise {

// From now on what is written to standard error is appended to `path`, which is
// made if it is not there; each line is one write, so a file that is truncated
// meanwhile goes on from its start. UNAVAILABLE: it cannot be opened.
absl::Status SendStderrTo(const std::string& path);

}  // namespace reprise
