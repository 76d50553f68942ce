// Something that a test has in every captured graph, before and after it all.
#pragma once

#include <cuda.h>

#include "absl/status/status.h"
#include "runtime/cuda/context.h"

namespace reprise::cuda {

// Begin and End issue kernels to a stream that is being captured, as an
// independent timer does: a batch's run replays them first and last. They may
// neither wait nor allocate.
//
// Lifecycle: outlives the device; what it issues names memory that does.
// Threads: the loader's, one call at a time.
class GraphProbe {
 public:
  virtual ~GraphProbe() = default;
  virtual absl::Status Begin(const CurrentContext& current,
                             CUstream stream) = 0;
  virtual absl::Status End(const CurrentContext& current, CUstream stream) = 0;
};

}  // namespace reprise::cuda
