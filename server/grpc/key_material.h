// Certificates and keys, read and checked: the one door to OpenSSL.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/grpc/grpc_options.h"

namespace reprise {

// What the files of TlsOptions hold, in PEM.
struct KeyMaterial {
  std::string certificate;  // a chain
  std::string key;
  std::string root;  // empty without mutual TLS

  bool operator==(const KeyMaterial&) const = default;
};

// INVALID_ARGUMENT names every file, by its flag, that is missing, cannot be
// read or does not parse, or says why the two do not make a server: a key that
// does not belong to the certificate, or one that is too weak.
absl::StatusOr<KeyMaterial> ReadKeyMaterial(const TlsOptions& options);

}  // namespace reprise
