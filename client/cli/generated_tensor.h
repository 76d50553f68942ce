// Tensors filled without a file.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "client/tensor.h"

namespace reprise::client {

// `target` with bytes for its datatype and dims. Zeros; empty strings for
// BYTES. INVALID_ARGUMENT for an unknown datatype, or more than 2^31 bytes.
absl::StatusOr<Tensor> MakeZeros(Tensor target);

// Floats in [0, 1), integers in [0, 10), either truth value, strings of one
// digit; the same for the same seed. Errors as MakeZeros.
absl::StatusOr<Tensor> MakeRandom(Tensor target, uint64_t seed);

}  // namespace reprise::client
