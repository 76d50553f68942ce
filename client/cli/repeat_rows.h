// A batch out of fewer rows.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "client/tensor.h"

namespace reprise::client {

// `tensor`, which has a first dim and passes CheckTensor, with its rows over
// and over until there are `rows`. INVALID_ARGUMENT, naming the input, if it
// has none or more than that, or the whole were larger than 2 GiB.
absl::StatusOr<Tensor> RepeatRows(Tensor tensor, int64_t rows);

}  // namespace reprise::client
