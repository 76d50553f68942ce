// The server's credentials: plaintext, TLS or mutual TLS.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "grpcpp/security/server_credentials.h"
#include "server/grpc/grpc_options.h"

namespace reprise {

// With TLS the files are read again while serving, so that a renewed
// certificate needs no restart. INVALID_ARGUMENT names every file that is
// missing or cannot be read.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeCredentials(
    const TlsOptions& options);

}  // namespace reprise
