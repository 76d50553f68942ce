#include "server/grpc/goaway.h"

#include <dlfcn.h>

#include <algorithm>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "grpc/support/time.h"
#include "grpcpp/alarm.h"

namespace reprise {
namespace {

constexpr absl::Duration kLookEvery = absl::Milliseconds(10);

// The functions, as member functions are called: with the object first. They
// are looked up by name; gRPC's library may or may not have them.
struct ServerInternals {
  void (*stop_listening)(grpc_server*) = nullptr;
  void (*send_goaways)(grpc_server*) = nullptr;
  bool (*has_open_connections)(grpc_server*) = nullptr;

  bool complete() const {
    return stop_listening != nullptr && send_goaways != nullptr &&
           has_open_connections != nullptr;
  }
};

template <typename Function>
void LookUp(SymbolFinder find, const char* name, Function& function) {
  function = reinterpret_cast<Function>(find(name));
}

ServerInternals FindInternals(SymbolFinder find) {
  ServerInternals internals;
  LookUp(find, "_ZN9grpc_core6Server13StopListeningEv",
         internals.stop_listening);
  LookUp(find, "_ZN9grpc_core6Server11SendGoawaysEv", internals.send_goaways);
  LookUp(find, "_ZN9grpc_core6Server18HasOpenConnectionsEv",
         internals.has_open_connections);
  return internals;
}

}  // namespace

void* FindSymbol(const char* name) { return dlsym(RTLD_DEFAULT, name); }

bool CanStopAccepting(SymbolFinder find) {
  return FindInternals(find).complete();
}

bool StopAccepting(grpc::Server& server, Clock& clock, absl::Duration grace) {
  const ServerInternals internals = FindInternals(FindSymbol);
  if (!internals.complete()) return false;
  // The library's Server is what the C interface calls a grpc_server.
  grpc_server* const core = server.c_server();
  // gRPC's internals may be called on gRPC's own threads only; an alarm that is
  // due at once runs on one.
  absl::Notification sent;
  grpc::Alarm alarm;
  alarm.Set(gpr_now(GPR_CLOCK_MONOTONIC), [&](bool /*ok*/) {
    internals.stop_listening(core);
    internals.send_goaways(core);
    sent.Notify();
  });
  sent.WaitForNotification();

  absl::Mutex mu;
  absl::MutexLock lock(&mu);
  const absl::Time until = clock.Now() + grace;
  const auto closed = [&] { return !internals.has_open_connections(core); };
  while (!closed() && clock.Now() < until) {
    clock.Await(mu, absl::Condition(&closed),
                std::min(until, clock.Now() + kLookEvery));
  }
  return true;
}

}  // namespace reprise
