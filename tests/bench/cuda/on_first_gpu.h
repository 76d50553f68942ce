// What the programs of this folder begin and end with.
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/module.h"

namespace reprise::bench {

// Does `work` with the first GPU's context current and the library's kernels
// loaded, and returns the program's exit status: 0; 1 with the error printed;
// or 77 with the reason printed, where there is no GPU.
int OnFirstGpu(absl::FunctionRef<absl::Status(
                   const cuda::CurrentContext& current, cuda::Modules& modules)>
                   work);

}  // namespace reprise::bench
