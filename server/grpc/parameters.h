// The parameters of a request and of its tensors.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/grpc/infer_request.h"

namespace reprise {

// What a request's parameters ask for.
struct RequestParameters {
  uint64_t priority = 0;   // 0: the model's default
  int64_t timeout_us = 0;  // 0: none
};

// INVALID_ARGUMENT, with the key: a known key with a value of another type, a
// negative priority, a reserved key (`triton_...`), or another key with a value
// that custom parameters cannot have (uint64, or none). UNIMPLEMENTED: a
// `sequence_id` of more than 128 bytes. Sequence parameters are otherwise
// checked and ignored, as for any model without sequence batching.
absl::StatusOr<RequestParameters> ReadRequestParameters(
    const InferParameters& parameters);

// UNIMPLEMENTED if a tensor is to be in shared memory.
absl::Status CheckNoSharedMemory(const InferParameters& parameters);

// The output parameter `classification`: 0 if it is not given. INVALID_ARGUMENT
// unless it is an int64 above 0.
absl::StatusOr<int64_t> ReadClassification(const InferParameters& parameters);

}  // namespace reprise
