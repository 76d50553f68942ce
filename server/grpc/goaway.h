// Stops accepting without ending a call.
#pragma once

#include "absl/time/time.h"
#include "grpcpp/server.h"
#include "runtime/base/clock.h"

namespace reprise {

// grpc::Server::Shutdown sets its flag before its GOAWAY frames are read: calls
// that arrive in between are cancelled. This closes the listeners and sends
// GOAWAY on every connection while calls are still served, and returns once
// clients have had `grace` to see it, or sooner if all connections have ended.
// Shutdown may then follow without a call that it could cancel.
//
// gRPC 1.51 has the functions, but not in its public headers; false, and
// nothing is done, where the library that is loaded lacks them. Blocks.
bool StopAccepting(grpc::Server& server, Clock& clock, absl::Duration grace);

// The address of a function of the process; null if there is none.
using SymbolFinder = void* (*)(const char* name);
void* FindSymbol(const char* name);

// Whether StopAccepting will do its work.
bool CanStopAccepting(SymbolFinder find = FindSymbol);

}  // namespace reprise
