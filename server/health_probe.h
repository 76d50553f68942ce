// `reprised health`: asks a server for its health, for container probes.
#pragma once

#include <ostream>
#include <span>

#include "runtime/base/clock.h"

namespace reprise {

// Arguments: [ADDRESS] [SERVICE], with --connect-timeout and --rpc-timeout in
// seconds, and --tls, --tls-ca-cert, --tls-client-cert, --tls-client-key.
// Prints one line; a second one if only the server speaks TLS. --help explains
// it all and returns 0. A file that cannot be read is a bad argument. Returns
// what grpc_health_probe would: 0 SERVING, 1 bad arguments, 2 no connection, 3
// the call failed, 4 not SERVING.
int ProbeHealth(std::span<const char* const> args, const Clock& clock,
                std::ostream& out, std::ostream& err);

}  // namespace reprise
