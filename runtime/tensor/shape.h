// Dims of tensors and checked arithmetic on them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "runtime/tensor/dtype.h"

namespace reprise {

// A dim is >= 0; kFreeDim in a signature stands for "given by the request".
using Dims = absl::InlinedVector<int64_t, 6>;
inline constexpr int64_t kFreeDim = -1;

// The product. INVALID_ARGUMENT if a dim is negative or the product passes
// 2^63 - 1. A scalar (no dims) has 1 element.
absl::StatusOr<int64_t> NumElements(std::span<const int64_t> dims);

// The same unchecked: for dims of a tensor that there is, or that Bind has
// found.
int64_t ElementCount(std::span<const int64_t> dims);

// NumElements times the element size, checked likewise.
absl::StatusOr<int64_t> NumBytes(DType dtype, std::span<const int64_t> dims);

// "[1,3,-1]"
std::string DimsText(std::span<const int64_t> dims);

// Row-major strides in elements.
Dims Strides(std::span<const int64_t> dims);

}  // namespace reprise
