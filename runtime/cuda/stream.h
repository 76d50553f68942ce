// Streams as this folder makes them.
#pragma once

#include "absl/status/statusor.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/handle.h"

namespace reprise::cuda {

// A stream that no other waits for, and that waits for none.
absl::StatusOr<UniqueStream> MakeStream(const CurrentContext& current);

}  // namespace reprise::cuda
