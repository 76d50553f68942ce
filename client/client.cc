#include "client/client.h"

#include <chrono>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "client/status.h"
#include "grpc/grpc.h"
#include "grpc/slice.h"

namespace reprise::client {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

// What one InferAsync keeps until it is answered.
struct AsyncInfer {
  grpc::ClientContext context;
  inference::ModelInferRequest request;
  inference::ModelInferResponse response;
};

absl::Time SystemNow() {
  return absl::FromChrono(std::chrono::system_clock::now());
}

void Block(absl::Duration time) {
  absl::Notification never;
  never.WaitForNotificationWithTimeout(time);
}

template <typename Request>
Request ForModel(const std::string& model, const std::string& version) {
  Request request;
  request.set_name(model);
  request.set_version(version);
  return request;
}

// gRPC ends the process over a header that HTTP/2 does not allow.
absl::Status CheckHeader(const std::string& name, const std::string& value) {
  const grpc_slice key =
      grpc_slice_from_static_buffer(name.data(), name.size());
  const std::string where =
      absl::StrCat("header \"", absl::CHexEscape(name), "\": ");
  if (grpc_header_key_is_legal(key) == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        where, "a name is made of a to z, 0 to 9, \"-\", \"_\" and \".\""));
  }
  const grpc_slice content =
      grpc_slice_from_static_buffer(value.data(), value.size());
  if (grpc_is_binary_header(key) == 0 &&
      grpc_header_nonbin_value_is_legal(content) == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, "its value \"", absl::CHexEscape(value),
                     "\" is not printable ASCII, which only a header whose "
                     "name ends in -bin may hold"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Client>> Client::Create(ClientOptions options) {
  for (const auto& [name, value] : options.headers) {
    CLIENT_RETURN_IF_ERROR(CheckHeader(name, value));
  }
  CLIENT_ASSIGN_OR_RETURN(std::vector<std::shared_ptr<grpc::Channel>> channels,
                          MakeChannels(options.channel, 1));
  if (options.wait == nullptr) options.wait = Block;
  return std::unique_ptr<Client>(
      new Client(std::move(options), std::move(channels.front())));
}

Client::Client(ClientOptions options, std::shared_ptr<grpc::Channel> channel)
    : options_(std::move(options)),
      channel_(std::move(channel)),
      stub_(inference::GRPCInferenceService::NewStub(channel_)),
      health_(grpc::health::v1::Health::NewStub(channel_)) {}

absl::Time Client::Deadline() const {
  return options_.timeout == absl::InfiniteDuration()
             ? absl::InfiniteFuture()
             : SystemNow() + options_.timeout;
}

void Client::Prepare(absl::Time deadline, grpc::ClientContext& context) const {
  if (deadline != absl::InfiniteFuture()) {
    context.set_deadline(absl::ToChronoTime(deadline));
  }
  for (const auto& [name, value] : options_.headers) {
    context.AddMetadata(name, value);
  }
}

absl::Status Client::Try(int max_attempts, const Attempt& attempt) {
  RetryPolicy policy = options_.retry;
  policy.max_attempts = max_attempts;
  const absl::Time deadline = Deadline();
  for (int n = 1;; ++n) {
    grpc::ClientContext context;
    Prepare(deadline, context);
    absl::Status status = FromGrpc(attempt(context));
    if (status.ok()) return status;
    const std::optional<absl::Duration> wait =
        NextAttempt(policy, n, status.code(),
                    ReadPushback(context.GetServerTrailingMetadata()));
    if (!wait.has_value() || SystemNow() + *wait >= deadline) return status;
    options_.wait(*wait);
  }
}

absl::Status Client::TryRead(const Attempt& attempt) {
  return Try(options_.retry.max_attempts, attempt);
}

absl::StatusOr<bool> Client::ServerLive() {
  inference::ServerLiveResponse response;
  CLIENT_RETURN_IF_ERROR(TryRead([&](grpc::ClientContext& context) {
    return stub_->ServerLive(&context, {}, &response);
  }));
  return response.live();
}

absl::StatusOr<bool> Client::ServerReady() {
  inference::ServerReadyResponse response;
  CLIENT_RETURN_IF_ERROR(TryRead([&](grpc::ClientContext& context) {
    return stub_->ServerReady(&context, {}, &response);
  }));
  return response.ready();
}

absl::StatusOr<bool> Client::ModelReady(const std::string& model,
                                        const std::string& version) {
  inference::ModelReadyResponse response;
  const auto request = ForModel<inference::ModelReadyRequest>(model, version);
  CLIENT_RETURN_IF_ERROR(TryRead([&](grpc::ClientContext& context) {
    return stub_->ModelReady(&context, request, &response);
  }));
  return response.ready();
}

absl::StatusOr<inference::ServerMetadataResponse> Client::ServerMetadata() {
  inference::ServerMetadataResponse response;
  CLIENT_RETURN_IF_ERROR(TryRead([&](grpc::ClientContext& context) {
    return stub_->ServerMetadata(&context, {}, &response);
  }));
  return response;
}

absl::StatusOr<inference::ModelMetadataResponse> Client::ModelMetadata(
    const std::string& model, const std::string& version) {
  inference::ModelMetadataResponse response;
  const auto request =
      ForModel<inference::ModelMetadataRequest>(model, version);
  CLIENT_RETURN_IF_ERROR(TryRead([&](grpc::ClientContext& context) {
    return stub_->ModelMetadata(&context, request, &response);
  }));
  return response;
}

absl::StatusOr<inference::ModelConfig> Client::ModelConfig(
    const std::string& model, const std::string& version) {
  inference::ModelConfigResponse response;
  const auto request = ForModel<inference::ModelConfigRequest>(model, version);
  CLIENT_RETURN_IF_ERROR(TryRead([&](grpc::ClientContext& context) {
    return stub_->ModelConfig(&context, request, &response);
  }));
  return std::move(*response.mutable_config());
}

absl::StatusOr<inference::ModelStatisticsResponse> Client::ModelStatistics(
    const std::string& model, const std::string& version) {
  inference::ModelStatisticsResponse response;
  const auto request =
      ForModel<inference::ModelStatisticsRequest>(model, version);
  CLIENT_RETURN_IF_ERROR(TryRead([&](grpc::ClientContext& context) {
    return stub_->ModelStatistics(&context, request, &response);
  }));
  return response;
}

absl::StatusOr<inference::RepositoryIndexResponse> Client::RepositoryIndex(
    bool ready_only) {
  inference::RepositoryIndexRequest request;
  request.set_ready(ready_only);
  inference::RepositoryIndexResponse response;
  CLIENT_RETURN_IF_ERROR(TryRead([&](grpc::ClientContext& context) {
    return stub_->RepositoryIndex(&context, request, &response);
  }));
  return response;
}

absl::Status Client::LoadModel(const std::string& model,
                               const LoadOverrides& overrides) {
  inference::RepositoryModelLoadRequest request;
  request.set_model_name(model);
  auto& parameters = *request.mutable_parameters();
  if (!overrides.config.empty()) {
    parameters["config"].set_string_param(overrides.config);
  }
  for (const auto& [path, content] : overrides.files) {
    parameters[path].set_bytes_param(content);
  }
  inference::RepositoryModelLoadResponse response;
  return Try(1, [&](grpc::ClientContext& context) {
    return stub_->RepositoryModelLoad(&context, request, &response);
  });
}

absl::Status Client::UnloadModel(const std::string& model,
                                 bool unload_dependents) {
  inference::RepositoryModelUnloadRequest request;
  request.set_model_name(model);
  if (unload_dependents) {
    const std::string key = "unload_dependents";
    (*request.mutable_parameters())[key].set_bool_param(true);
  }
  inference::RepositoryModelUnloadResponse response;
  return Try(1, [&](grpc::ClientContext& context) {
    return stub_->RepositoryModelUnload(&context, request, &response);
  });
}

absl::StatusOr<HealthCheckResponse::ServingStatus> Client::HealthCheck(
    const std::string& service) {
  HealthCheckRequest request;
  request.set_service(service);
  HealthCheckResponse response;
  CLIENT_RETURN_IF_ERROR(TryRead([&](grpc::ClientContext& context) {
    return health_->Check(&context, request, &response);
  }));
  return response.status();
}

absl::StatusOr<InferResult> Client::Infer(const InferCall& call) {
  CLIENT_ASSIGN_OR_RETURN(const inference::ModelInferRequest request,
                          EncodeInfer(call));
  inference::ModelInferResponse response;
  CLIENT_RETURN_IF_ERROR(
      Try(options_.infer_attempts, [&](grpc::ClientContext& context) {
        return stub_->ModelInfer(&context, request, &response);
      }));
  return DecodeInfer(std::move(response));
}

void Client::InferAsync(const InferCall& call,
                        std::function<void(absl::StatusOr<InferResult>)> done) {
  absl::StatusOr<inference::ModelInferRequest> request = EncodeInfer(call);
  if (!request.ok()) return done(request.status());
  auto state = std::make_shared<AsyncInfer>();
  state->request = *std::move(request);
  Prepare(Deadline(), state->context);
  stub_->async()->ModelInfer(
      &state->context, &state->request, &state->response,
      [state, done = std::move(done)](const grpc::Status& status) {
        if (!status.ok()) return done(FromGrpc(status));
        done(DecodeInfer(std::move(state->response)));
      });
}

}  // namespace reprise::client
