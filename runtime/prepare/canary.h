// Are the rows of a prepared model independent of each other?
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "runtime/prepare/slot_layout.h"
#include "runtime/tensor/signature.h"

namespace reprise {

// The tensors of `signature` have room for the last of `rungs`; `run(i)` runs
// rung i of the inputs as they stand, without padding.
struct CanaryRun {
  const Signature& signature;
  const std::vector<int>& rungs;
  std::span<const TensorRows> inputs;
  std::span<const TensorRows> outputs;
  absl::FunctionRef<absl::Status(size_t rung)> run;
  // How far floats of two rungs may differ, of the row's largest value; 0: as
  // much as is usual for the output's type. For a device that computes in
  // something narrower than that.
  double between_rungs = 0;
};

// Runs every rung with rows of different magnitudes, and again with all rows
// but the first and the last poisoned (NaN, or the largest integer); the
// largest rung also with every other row. Its first rows must be what they are
// when they run alone, its last row what it is in the largest rung, and none of
// them may notice the poison. Integers and booleans must be equal, floats
// nearly so: a rung may add in another order. FAILED_PRECONDITION names the
// output, the row and the two values; other errors are those of `run`.
absl::Status CheckRowsIndependent(const CanaryRun& canary);

// How two outputs of a type differ, in words: "1 and 2 at element 7"; empty if
// they do not. Integers and booleans must be equal, floats within `tolerance`
// of the largest number that is expected.
std::string Difference(DType dtype, std::span<const std::byte> actual,
                       std::span<const std::byte> expected, double tolerance);

// Fills the first `rows` rows of all inputs with ordinary values: what rungs
// are timed with.
void FillWithSamples(const Signature& signature, int rows,
                     std::span<const TensorRows> inputs);

}  // namespace reprise
