// "a", "a:b" or "a:b:step".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace reprise::client {

// All the values: "1:8:2" is 1 3 5 7 (the step is 1 unless given).
// INVALID_ARGUMENT unless they are whole numbers of 1 or more in ascending
// order, at most 1,000 of them.
absl::StatusOr<std::vector<int64_t>> ParseRange(const std::string& text);

// The same with fractions, above 0: "0.5:2:0.5" is 0.5 1 1.5 2.
absl::StatusOr<std::vector<double>> ParseRealRange(const std::string& text);

}  // namespace reprise::client
