// Where the server is and how to reach it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/channel.h"
#include "grpcpp/security/credentials.h"

namespace reprise::client {

struct ChannelOptions {
  // "host:port", "unix:/path/to.sock", or any other target that gRPC resolves.
  std::string target = "localhost:8001";

  // TLS is on if `tls` is true or any of the files is named.
  bool tls = false;
  std::string ca_file;    // PEM roots; empty: the system's
  std::string cert_file;  // PEM chain of the client, for mTLS; needs key_file
  std::string key_file;
  std::string server_name;  // the name the certificate must hold; empty: host

  // Largest message in either direction; -1: no limit.
  int max_message_bytes = -1;
};

// Reads the files; nothing is connected until the first call.
// INVALID_ARGUMENT for an empty target, a certificate without its key, a file
// that holds no PEM, and a key of another certificate; NOT_FOUND for a file
// that cannot be read.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeCredentials(
    const ChannelOptions& options);

// `count` channels with connections of their own (gRPC would share one).
// Errors as MakeCredentials; INVALID_ARGUMENT if count < 1.
absl::StatusOr<std::vector<std::shared_ptr<grpc::Channel>>> MakeChannels(
    const ChannelOptions& options, int count);

}  // namespace reprise::client
