// The kernels that take the times of graphs, on a fake GPU and by its clock.
#pragma once

#include "tests/testing/fake_cuda.h"

namespace reprise::testing {

// Adds reprise_stamp_begin and reprise_stamp_end, which take no time.
void AddStampKernels(FakeCuda& cuda);

}  // namespace reprise::testing
