// The gRPC front: the server, its completion queue and all that answers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "prometheus/registry.h"
#include "proto/health.grpc.pb.h"
#include "runtime/base/clock.h"
#include "runtime/base/thread.h"
#include "runtime/model/registry.h"
#include "runtime/worker/model_manager.h"
#include "server/grpc/grpc_options.h"
#include "server/grpc/health_service.h"
#include "server/grpc/health_state.h"
#include "server/grpc/infer_call.h"
#include "server/grpc/infer_metrics.h"
#include "server/grpc/inference_service.h"
#include "server/grpc/methods.h"
#include "server/grpc/reflection.h"
#include "server/grpc/reply_thread.h"
#include "server/grpc/slow_log.h"
#include "server/grpc/unimplemented.h"
#include "server/grpc/work_threads.h"

namespace reprise {

// All must outlive the front.
struct FrontDeps {
  ModelRegistry& registry;
  ModelManager& manager;
  Clock& clock;
  prometheus::Registry& metrics;
  std::string version;  // of this program
};

// One completion queue, polled by one thread: measured best, at depth 1 and at
// saturation. Everything is served from it, so that no second poller competes
// for its events; what takes longer than a look-up runs elsewhere.
//
// Lifecycle: Create (serves at once), StartDraining, StopAccepting, then, once
// the manager has answered everything, Shutdown.
// Threads: the public methods from one thread; health() and SetLost from any.
class GrpcFront {
 public:
  // INVALID_ARGUMENT: TLS files. UNAVAILABLE: cannot listen; the text says
  // where and why.
  static absl::StatusOr<std::unique_ptr<GrpcFront>> Create(
      const GrpcOptions& options, const FrontDeps& deps);
  ~GrpcFront();

  const std::string& target() const { return target_; }  // "127.0.0.1:8001"
  int port() const { return port_; }                     // 0: a Unix socket
  const HealthState& health() const { return health_; }

  // Neither ready nor live from now on. Any thread.
  void SetLost();
  // Not ready from now on, but everything is still served.
  void StartDraining();
  // No new connections; clients are told to go, and are served until they have
  // heard it. Ends the health streams.
  void StopAccepting();
  // No new calls. Waits until all calls are answered, or ends them at
  // `deadline`; returns when all threads have stopped.
  void Shutdown(absl::Time deadline);

 private:
  // What the streams, and the calls that are not served, need of the front.
  struct Streams {
    WatchContext watch;
    ReflectionContext reflection;
    ReflectionContext old_reflection;
    UnimplementedContext unserved;
  };

  GrpcFront(const GrpcOptions& options, const FrontDeps& deps);
  absl::Status Listen(const GrpcOptions& options);
  void PostCalls(const GrpcOptions& options);
  void PostStreams();
  void Poll();

  // Constant after Create.
  std::string target_;
  int port_ = 0;
  Clock& clock_;

  HealthState health_;
  const ServiceContext context_;
  InferMetrics infer_metrics_;
  prometheus::Family<prometheus::Counter>& calls_;
  SlowLog slow_log_;
  ReplyThread replies_;
  WorkThreads workers_;
  WorkThreads loaders_;
  HealthMonitor monitor_;
  const ModelRegistry::Subscription changes_;  // each wakes the monitor

  InferenceService inference_;
  grpc::health::v1::Health::AsyncService health_service_;
  ReflectionService reflection_;
  ReflectionService old_reflection_;
  grpc::AsyncGenericService unserved_;
  std::shared_ptr<grpc::ServerCredentials> credentials_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  InferContext infer_;
  std::unique_ptr<Streams> streams_;
  std::vector<std::unique_ptr<AnyMethod>> methods_;
  ModelManager& manager_;
  bool accepting_ = true;
  bool shut_down_ = false;
  std::vector<Thread> pollers_;
};

}  // namespace reprise
