// A server of the v2 protocol in the test's own process: answers from a table,
// remembers what it was asked, fails when told to.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/grpcpp.h"
#include "proto/grpc_service.grpc.pb.h"
#include "proto/health.grpc.pb.h"

namespace reprise::client::testing {

// Serves `digits` (image FP32 [-1,1,8,8] -> scores FP32 [-1,10]: 1 for the
// class whose number is the row's first pixel, 0.5 for the next class, 0 else)
// and `simple` (two INT32 [-1,16] -> their sum and difference). Every other
// model is NOT_FOUND.
// Threads: any.
class FakeService final : public inference::GRPCInferenceService::Service {
 public:
  // The next call of any RPC answers `status`, with this trailer if not empty.
  void FailNext(const grpc::Status& status, const std::string& pushback_ms = "")
      ABSL_LOCKS_EXCLUDED(mu_);

  // What came in.
  inference::ModelInferRequest last_infer() const ABSL_LOCKS_EXCLUDED(mu_);
  inference::RepositoryModelLoadRequest last_load() const
      ABSL_LOCKS_EXCLUDED(mu_);
  inference::RepositoryModelUnloadRequest last_unload() const
      ABSL_LOCKS_EXCLUDED(mu_);
  std::multimap<std::string, std::string> last_headers() const
      ABSL_LOCKS_EXCLUDED(mu_);
  int calls() const ABSL_LOCKS_EXCLUDED(mu_);

  // What ModelStatistics adds for each inference answered.
  static constexpr uint64_t kQueueNs = 100'000;
  static constexpr uint64_t kInferNs = 200'000;

  grpc::Status ServerLive(grpc::ServerContext* context,
                          const inference::ServerLiveRequest* request,
                          inference::ServerLiveResponse* response) override;
  grpc::Status ServerReady(grpc::ServerContext* context,
                           const inference::ServerReadyRequest* request,
                           inference::ServerReadyResponse* response) override;
  grpc::Status ModelReady(grpc::ServerContext* context,
                          const inference::ModelReadyRequest* request,
                          inference::ModelReadyResponse* response) override;
  grpc::Status ServerMetadata(
      grpc::ServerContext* context,
      const inference::ServerMetadataRequest* request,
      inference::ServerMetadataResponse* response) override;
  grpc::Status ModelMetadata(
      grpc::ServerContext* context,
      const inference::ModelMetadataRequest* request,
      inference::ModelMetadataResponse* response) override;
  grpc::Status ModelInfer(grpc::ServerContext* context,
                          const inference::ModelInferRequest* request,
                          inference::ModelInferResponse* response) override;
  grpc::Status ModelConfig(grpc::ServerContext* context,
                           const inference::ModelConfigRequest* request,
                           inference::ModelConfigResponse* response) override;
  grpc::Status ModelStatistics(
      grpc::ServerContext* context,
      const inference::ModelStatisticsRequest* request,
      inference::ModelStatisticsResponse* response) override;
  grpc::Status RepositoryIndex(
      grpc::ServerContext* context,
      const inference::RepositoryIndexRequest* request,
      inference::RepositoryIndexResponse* response) override;
  grpc::Status RepositoryModelLoad(
      grpc::ServerContext* context,
      const inference::RepositoryModelLoadRequest* request,
      inference::RepositoryModelLoadResponse* response) override;
  grpc::Status RepositoryModelUnload(
      grpc::ServerContext* context,
      const inference::RepositoryModelUnloadRequest* request,
      inference::RepositoryModelUnloadResponse* response) override;

 private:
  struct Failure {
    grpc::Status status;
    std::string pushback_ms;
  };

  // Counts the call; the failure that is due, or OK.
  grpc::Status Enter(grpc::ServerContext* context) ABSL_LOCKS_EXCLUDED(mu_);

  mutable absl::Mutex mu_;
  std::deque<Failure> failures_ ABSL_GUARDED_BY(mu_);
  inference::ModelInferRequest last_infer_ ABSL_GUARDED_BY(mu_);
  inference::RepositoryModelLoadRequest last_load_ ABSL_GUARDED_BY(mu_);
  inference::RepositoryModelUnloadRequest last_unload_ ABSL_GUARDED_BY(mu_);
  std::multimap<std::string, std::string> last_headers_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, uint64_t> inferences_ ABSL_GUARDED_BY(mu_);
  int calls_ ABSL_GUARDED_BY(mu_) = 0;
};

// SERVING for "" and `digits`, NOT_SERVING for `simple`, else NOT_FOUND.
class FakeHealth final : public grpc::health::v1::Health::Service {
 public:
  grpc::Status Check(grpc::ServerContext* context,
                     const grpc::health::v1::HealthCheckRequest* request,
                     grpc::health::v1::HealthCheckResponse* response) override;
};

// Both services on a free port of the loopback, or where `address` says.
class FakeServer {
 public:
  explicit FakeServer(const std::string& address = "127.0.0.1:0",
                      std::shared_ptr<grpc::ServerCredentials> credentials =
                          grpc::InsecureServerCredentials());
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  const std::string& address() const { return address_; }
  int port() const { return port_; }
  FakeService& service() { return service_; }

 private:
  FakeService service_;
  FakeHealth health_;
  int port_ = 0;
  std::string address_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace reprise::client::testing
