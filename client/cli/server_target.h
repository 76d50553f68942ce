// What --server says, as gRPC wants it.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace reprise::client {

// "HOST:PORT" of "HOST", "HOST:PORT", "[IPv6]", "[IPv6]:PORT" or a bare IPv6
// address, also behind "dns:"; without a port it is 8001. What names another of
// gRPC's resolvers ("unix:/path.sock", "ipv4:1.2.3.4:80,1.2.3.5:80") stays as
// it is. INVALID_ARGUMENT for a port that is no number from 1 to 65535, an
// address without a host, and a URL of http. gRPC itself would take port 99999
// modulo 65536, and 443 for a missing one.
absl::StatusOr<std::string> ServerTarget(const std::string& text);

}  // namespace reprise::client
