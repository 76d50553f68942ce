// Certificates and keys, read and checked: the client's one door to OpenSSL.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace reprise::client {

// gRPC says no more of a file that it cannot use than that it has no address to
// connect to. These name the file and what is wrong with it: INVALID_ARGUMENT,
// or NOT_FOUND if it cannot be read.

// The PEM certificates in the file.
absl::StatusOr<std::string> ReadCertificates(const std::string& path);

// The PEM key in the file, which must have no password and belong to the first
// of `certificates`, the content of `certificates_path`.
absl::StatusOr<std::string> ReadKey(const std::string& path,
                                    const std::string& certificates,
                                    const std::string& certificates_path);

}  // namespace reprise::client
