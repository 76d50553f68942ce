// Status -> grpc::Status, and back: the only place where it is done.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "grpcpp/support/status.h"

namespace reprise {

// Code and text; of a text that would not fit in a trailer the middle is left
// out.
grpc::Status ToGrpc(const absl::Status& status);
absl::Status FromGrpc(const grpc::Status& status);

// "OK", "INVALID_ARGUMENT", ...
std::string CodeName(absl::StatusCode code);

// The trailer that tells a client when to try again (gRFC A6), in whole
// milliseconds, at least 1.
inline constexpr char kPushbackKey[] = "grpc-retry-pushback-ms";
std::string PushbackText(absl::Duration retry_after);

}  // namespace reprise
