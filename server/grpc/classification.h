// The k largest elements of an output, as the `classification` parameter asks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/tensor/dtype.h"

namespace reprise {

struct Classes {
  int rows = 1;
  int64_t top_k = 1;
  const std::vector<std::string>* labels = nullptr;  // by index; may be null
};

// For each row its `top_k` largest elements (all of them, if there are fewer),
// largest first and equal ones by index, as "value:index" or
// "value:index:label". Floats have six decimals. A NaN keeps its own position:
// the numbers are ranked around it.
// INVALID_ARGUMENT: the elements are not numbers.
absl::StatusOr<std::vector<std::string>> Classify(
    DType dtype, std::span<const std::byte> bytes, const Classes& classes);

}  // namespace reprise
