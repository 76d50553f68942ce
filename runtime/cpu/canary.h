// Are the rows of a prepared model independent of each other?
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "runtime/cpu/cpu_slot.h"
#include "runtime/tensor/signature.h"

namespace reprise::cpu {

// `slot` has room for the last of `rungs`; `run(i)` runs rung i of it as the
// slot stands, without padding.
struct CanaryRun {
  const Signature& signature;
  const std::vector<int>& rungs;
  CpuSlot& slot;
  absl::FunctionRef<absl::Status(size_t rung)> run;
};

// Runs every rung with rows of different magnitudes, and again with all rows
// but the first and the last poisoned (NaN, or the largest integer); the
// largest rung also with every other row. Its first rows must be what they are
// when they run alone, its last row what it is in the largest rung, and none of
// them may notice the poison. Integers and booleans must be equal, floats
// nearly so: a rung may add in another order. FAILED_PRECONDITION names the
// output, the row and the two values; other errors are those of `run`.
absl::Status CheckRowsIndependent(const CanaryRun& canary);

// Fills all inputs of `rows` rows with ordinary values: what rungs are timed
// with.
void FillWithSamples(const Signature& signature, int rows, CpuSlot& slot);

}  // namespace reprise::cpu
