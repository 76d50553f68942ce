// The C++ client of a Reprise server, and of any other server of the v2
// protocol: one typed method for each unary RPC.
//
//   ClientOptions options;
//   options.channel.target = "localhost:8001";
//   absl::StatusOr<std::unique_ptr<Client>> client = Client::Create(options);
//   InferCall call{.model = "digits"};
//   call.inputs.push_back({"image", "FP32", {1, 1, 8, 8}, bytes});
//   absl::StatusOr<InferResult> result = (*client)->Infer(call);
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/channel.h"
#include "client/infer_message.h"
#include "client/retry.h"
#include "grpcpp/client_context.h"
#include "proto/grpc_service.grpc.pb.h"
#include "proto/health.grpc.pb.h"

namespace reprise::client {

struct ClientOptions {
  ChannelOptions channel;
  // From the call's start, retries included; InfiniteDuration: no deadline.
  absl::Duration timeout = absl::Seconds(30);
  // Calls that only read. Infer, LoadModel and UnloadModel are tried once...
  RetryPolicy retry;
  // ... unless more attempts are allowed for Infer here.
  int infer_attempts = 1;
  // Sent with every call, e.g. the secret of a restricted group. Names are in
  // lower case.
  std::vector<std::pair<std::string, std::string>> headers;
  // How a retry waits; empty: by blocking the caller. Tests put their own here.
  std::function<void(absl::Duration)> wait;
};

// What LoadModel may bring along.
struct LoadOverrides {
  std::string config;  // JSON of a ModelConfig; empty: the repository's
  // "file:<version>/<path>" -> content; needs `config`.
  absl::btree_map<std::string, std::string> files;
};

// Lifecycle: Create, then calls; nothing connects before the first one.
// Threads: every method may be called from any thread; all but InferAsync
//   block until the answer or the deadline.
// Owns: its connection. Callbacks of InferAsync must have run before it goes.
//
// Errors of the server keep their code and message (IsRpcError says so);
// UNAVAILABLE if it cannot be reached, DEADLINE_EXCEEDED after the timeout.
class Client {
 public:
  // Errors as MakeCredentials; INVALID_ARGUMENT for a header that gRPC would
  // not carry.
  static absl::StatusOr<std::unique_ptr<Client>> Create(ClientOptions options);

  absl::StatusOr<bool> ServerLive();
  absl::StatusOr<bool> ServerReady();
  // NOT_FOUND for a model that the server does not know.
  absl::StatusOr<bool> ModelReady(const std::string& model,
                                  const std::string& version = "");
  absl::StatusOr<inference::ServerMetadataResponse> ServerMetadata();
  absl::StatusOr<inference::ModelMetadataResponse> ModelMetadata(
      const std::string& model, const std::string& version = "");
  absl::StatusOr<inference::ModelConfig> ModelConfig(
      const std::string& model, const std::string& version = "");
  // An empty name means all models.
  absl::StatusOr<inference::ModelStatisticsResponse> ModelStatistics(
      const std::string& model = "", const std::string& version = "");

  absl::StatusOr<inference::RepositoryIndexResponse> RepositoryIndex(
      bool ready_only = false);
  // Returns when the model serves or has failed to load.
  absl::Status LoadModel(const std::string& model,
                         const LoadOverrides& overrides = {});
  absl::Status UnloadModel(const std::string& model,
                           bool unload_dependents = false);

  // grpc.health.v1; NOT_FOUND for a service that the server does not know.
  absl::StatusOr<grpc::health::v1::HealthCheckResponse::ServingStatus>
  HealthCheck(const std::string& service = "");

  absl::StatusOr<InferResult> Infer(const InferCall& call);

  // Returns at once; `done` runs once, on a thread of gRPC's, and must not
  // block. A call that cannot be encoded is told to `done` before it returns.
  void InferAsync(const InferCall& call,
                  std::function<void(absl::StatusOr<InferResult>)> done);

  // For callers who drive a completion queue of their own.
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

 private:
  Client(ClientOptions options, std::shared_ptr<grpc::Channel> channel);

  using Attempt = std::function<grpc::Status(grpc::ClientContext&)>;
  absl::Status Try(int max_attempts, const Attempt& attempt);
  absl::Status TryRead(const Attempt& attempt);
  absl::Time Deadline() const;
  void Prepare(absl::Time deadline, grpc::ClientContext& context) const;

  const ClientOptions options_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<inference::GRPCInferenceService::Stub> stub_;
  const std::unique_ptr<grpc::health::v1::Health::Stub> health_;
};

}  // namespace reprise::client
