// InferCall and InferResult, and their form on the wire.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/tensor.h"
#include "proto/grpc_service.pb.h"

namespace reprise::client {

// One inference to ask for.
struct InferCall {
  std::string model;
  std::string version;  // empty: the latest
  std::string id;       // echoed
  std::vector<Tensor> inputs;
  std::vector<std::string> outputs;  // empty: all
  uint64_t priority = 0;             // 0: the model's default; 1 is highest
  // How long it may wait in the server's queue; zero: as the model says.
  absl::Duration queue_timeout;
};

struct InferResult {
  std::string model;
  std::string version;
  std::string id;
  std::vector<Tensor> outputs;
};

// INVALID_ARGUMENT, naming the tensor, if bytes do not fit datatype and shape.
absl::StatusOr<inference::ModelInferRequest> EncodeInfer(const InferCall& call);

// INTERNAL, naming the output, if the reply does not fit itself.
absl::StatusOr<InferResult> DecodeInfer(inference::ModelInferResponse response);

}  // namespace reprise::client
