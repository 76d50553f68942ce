// From a batch's outputs to the bytes of a ModelInferResponse.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "grpcpp/support/byte_buffer.h"
#include "runtime/batch/batch_output.h"
#include "runtime/model/model_version.h"
#include "server/grpc/decode.h"

namespace reprise {

struct ReplyHeader {
  const ModelVersion& model;
  absl::string_view id;
  std::span<const DecodedRequest::Output> outputs;
  size_t max_bytes;  // of the whole message
};

// Replaces `reply`, which is no return value because gRPC's buffers cannot be
// moved. Outputs of more than 1 KiB are not copied while slots are plentiful:
// its slices hold shares of `output` until gRPC has sent them. Otherwise they
// are copied once, and the slot is not needed any more.
//
// INVALID_ARGUMENT: the reply would be larger than `max_bytes`; it is as it
// was.
absl::Status EncodeReply(const ReplyHeader& header, const BatchOutput& output,
                         grpc::ByteBuffer& reply);

}  // namespace reprise
