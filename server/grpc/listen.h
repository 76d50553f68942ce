// Where the front listens, and its grpc::ServerBuilder settings.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "grpcpp/server_builder.h"
#include "server/grpc/grpc_options.h"

namespace reprise {

// "host:port", "[v6]:port", or "unix:/path" as it is.
std::string TargetOf(absl::string_view address, int port);
bool IsUnixTarget(absl::string_view target);

// gRPC takes a Unix socket away from whoever serves it. UNAVAILABLE if somebody
// does; a socket that nobody listens on any more is free, and so is whatever is
// no Unix target.
absl::Status CheckSocketIsFree(const std::string& target);

// Message limits, memory, keepalive.
void ApplyOptions(const GrpcOptions& options, grpc::ServerBuilder& builder);

struct ListenTarget {
  std::string address;
  int port;
  const char* purpose;  // "gRPC"
};
// Why it cannot be listened on, found by trying: the libraries do not say.
// UNAVAILABLE, always.
absl::Status WhyNotListening(const ListenTarget& target);

}  // namespace reprise
