// The server's credentials: plaintext, TLS or mutual TLS.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "grpcpp/security/server_credentials.h"
#include "runtime/base/clock.h"
#include "server/grpc/grpc_options.h"

namespace reprise {

// With TLS, new connections look at the files again, at most once in
// `options.refresh`, so that a renewed certificate needs no restart. All files
// change at once or not at all: what does not parse, or a key that has not
// followed its certificate yet, is a warning, and the old ones stay.
// INVALID_ARGUMENT as ReadKeyMaterial.
//
// Lifecycle: `clock` must outlive the credentials, and they the server.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeCredentials(
    const TlsOptions& options, Clock& clock);

}  // namespace reprise
