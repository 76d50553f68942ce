// grpc.health.v1: Check, List and Watch.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "grpcpp/completion_queue.h"
#include "prometheus/counter.h"
#include "proto/health.grpc.pb.h"
#include "proto/health.pb.h"
#include "runtime/base/clock.h"
#include "runtime/base/thread.h"
#include "server/grpc/health_state.h"

namespace reprise {

using HealthStatus = grpc::health::v1::HealthCheckResponse::ServingStatus;

// NOT_FOUND for an unknown service.
absl::Status CheckHealth(const HealthState& state,
                         const grpc::health::v1::HealthCheckRequest& request,
                         grpc::health::v1::HealthCheckResponse* response);

// The status of each service that is known; OK, always.
absl::Status ListHealth(const HealthState& state,
                        const grpc::health::v1::HealthListRequest& request,
                        grpc::health::v1::HealthListResponse* response);

// Tells every watcher of a change. Changes are announced by Wake; those that
// nobody announces (a worker that is stuck) are found within half a second.
//
// Lifecycle: Wake any number of times; Close once, before the server shuts
// down. Threads: any. Watchers are called with the monitor's lock held, on its
// thread or on the caller of Watch or Close; they must not block or call back.
class HealthMonitor {
 public:
  // A stream. No call is made after Unwatch or Closed.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    virtual void Changed(HealthStatus status) = 0;
    virtual void Closed() = 0;
  };

  HealthMonitor(const HealthState& state, Clock& clock);
  ~HealthMonitor() { Close(); }

  // Calls Changed with the present status at once, and at every change. Calls
  // Closed instead if the monitor is closed.
  void Watch(const std::string& service, Watcher* watcher)
      ABSL_LOCKS_EXCLUDED(mu_);
  void Unwatch(Watcher* watcher) ABSL_LOCKS_EXCLUDED(mu_);

  void Wake() ABSL_LOCKS_EXCLUDED(mu_);
  // Ends every stream.
  void Close() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Entry {
    std::string service;
    Watcher* watcher;
    HealthStatus status;
  };

  bool Awake() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return closed_ || woken_;
  }
  void Run() ABSL_LOCKS_EXCLUDED(mu_);

  const HealthState& state_;
  Clock& clock_;

  absl::Mutex mu_;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  bool woken_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<Entry> entries_ ABSL_GUARDED_BY(mu_);
  Thread thread_;
};

// What Watch calls have in common; outlives them. Streams that have ended are
// counted by who ended them.
struct WatchContext {
  grpc::health::v1::Health::AsyncService& service;
  grpc::ServerCompletionQueue& queue;
  HealthMonitor& monitor;
  prometheus::Counter& left;    // the caller
  prometheus::Counter& closed;  // the server
};

// Posts a Watch call; it takes the next one that arrives and posts another.
void PostWatch(WatchContext& context);

}  // namespace reprise
