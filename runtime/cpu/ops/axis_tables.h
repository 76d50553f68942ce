// Copies whose every output element is one of the input's, or a fill, by
// tables: one for each axis.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/cpu/kernel.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/shape.h"

namespace reprise::cpu {

// For each axis and each index of the output, the index of the input that it
// shows, or kFillIndex.
inline constexpr int64_t kFillIndex = -1;
using AxisSources = std::vector<std::vector<int64_t>>;

// Takes an axis's table of `entries` numbers from the request's budget.
// RESOURCE_EXHAUSTED if they are more than 2^26, or more than is left.
absl::Status TakeTable(const KernelRequest& request, int64_t entries);

// Where the fill comes from: a number, which becomes the dtype's nearest, or
// the one element of an input.
struct Fill {
  double value = 0;
  int input = -1;  // its position; -1 for the number
};

// Input 0, of `in`, to output 0, for any dtype but kString. An element is the
// fill where one of its axes says so.
absl::StatusOr<Kernel> TableKernel(DType dtype, const Dims& in,
                                   AxisSources sources, Fill fill);

}  // namespace reprise::cpu
