// An error after which nothing that a device computes may be used.
#pragma once

#include "absl/status/status.h"

namespace reprise {

// `status`, marked as such; the mark stays when its message is annotated. An OK
// status is returned as it is.
absl::Status AsDeviceFault(absl::Status status);

// Whether it is marked.
bool IsDeviceFault(const absl::Status& status);

}  // namespace reprise
