// The switches of fusions by the names that people give them.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/ops/fuse.h"

namespace reprise {

// All fusions but those of `off` (LoadOptions::fusions_off). INVALID_ARGUMENT
// names what there is not, and what there is; `device` is what the message
// calls itself: "the CPU".
absl::StatusOr<ops::FuseOptions> FuseOptionsWithout(
    const std::vector<std::string>& off, absl::string_view device);

}  // namespace reprise
