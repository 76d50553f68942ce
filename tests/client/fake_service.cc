#include "tests/client/fake_service.h"

#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace reprise::client::testing {
namespace {

using grpc::Status;
using grpc::StatusCode;

Status Unknown(const std::string& model) {
  return {StatusCode::NOT_FOUND,
          absl::StrCat("model \"", model, "\" is not known")};
}

bool Known(const std::string& model) {
  return model == "digits" || model == "simple";
}

template <typename T>
std::vector<T> Values(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

template <typename T>
void AddOutput(const std::string& name, const std::string& datatype,
               const std::vector<int64_t>& shape, const std::vector<T>& values,
               inference::ModelInferResponse& response) {
  auto& output = *response.add_outputs();
  output.set_name(name);
  output.set_datatype(datatype);
  output.mutable_shape()->Assign(shape.begin(), shape.end());
  response.add_raw_output_contents(reinterpret_cast<const char*>(values.data()),
                                   values.size() * sizeof(T));
}

void Digits(const inference::ModelInferRequest& request,
            inference::ModelInferResponse& response) {
  const auto pixels = Values<float>(request.raw_input_contents(0));
  const size_t rows = pixels.size() / 64;
  std::vector<float> scores(rows * 10, 0);
  for (size_t row = 0; row < rows; ++row) {
    const size_t digit = static_cast<size_t>(pixels[row * 64]) % 10;
    scores[row * 10 + digit] = 1;
    scores[row * 10 + (digit + 1) % 10] = 0.5;
  }
  AddOutput("scores", "FP32", {static_cast<int64_t>(rows), 10}, scores,
            response);
}

void Simple(const inference::ModelInferRequest& request,
            inference::ModelInferResponse& response) {
  const auto a = Values<int32_t>(request.raw_input_contents(0));
  const auto b = Values<int32_t>(request.raw_input_contents(1));
  std::vector<int32_t> sum;
  std::vector<int32_t> difference;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    sum.push_back(a[i] + b[i]);
    difference.push_back(a[i] - b[i]);
  }
  const std::vector<int64_t> shape = {static_cast<int64_t>(sum.size() / 16),
                                      16};
  AddOutput("OUTPUT0", "INT32", shape, sum, response);
  AddOutput("OUTPUT1", "INT32", shape, difference, response);
}

template <typename Tensors>
void AddMetadata(const std::string& name, const std::string& datatype,
                 const std::vector<int64_t>& shape, Tensors* tensors) {
  auto& tensor = *tensors->Add();
  tensor.set_name(name);
  tensor.set_datatype(datatype);
  tensor.mutable_shape()->Assign(shape.begin(), shape.end());
}

void AddIndex(const std::string& name, const std::string& state,
              const std::string& reason,
              inference::RepositoryIndexResponse* response) {
  auto& model = *response->add_models();
  model.set_name(name);
  model.set_version("1");
  model.set_state(state);
  model.set_reason(reason);
}

void Set(uint64_t count, uint64_t ns, inference::StatisticDuration* duration) {
  duration->set_count(count);
  duration->set_ns(count * ns);
}

void FillStatistics(const std::string& name, uint64_t count,
                    inference::ModelStatistics& stats) {
  stats.set_name(name);
  stats.set_version("1");
  stats.set_inference_count(count);
  stats.set_execution_count(count);
  auto& times = *stats.mutable_inference_stats();
  Set(count, FakeService::kQueueNs + FakeService::kInferNs,
      times.mutable_success());
  Set(0, 0, times.mutable_fail());
  Set(count, FakeService::kQueueNs, times.mutable_queue());
  Set(count, 0, times.mutable_compute_input());
  Set(count, FakeService::kInferNs, times.mutable_compute_infer());
  Set(count, 0, times.mutable_compute_output());
  auto& batch = *stats.add_batch_stats();
  batch.set_batch_size(1);
  Set(count, FakeService::kInferNs, batch.mutable_compute_infer());
}

}  // namespace

void FakeService::FailNext(const Status& status,
                           const std::string& pushback_ms) {
  absl::MutexLock lock(&mu_);
  failures_.push_back({status, pushback_ms});
}

inference::ModelInferRequest FakeService::last_infer() const {
  absl::MutexLock lock(&mu_);
  return last_infer_;
}

inference::RepositoryModelLoadRequest FakeService::last_load() const {
  absl::MutexLock lock(&mu_);
  return last_load_;
}

inference::RepositoryModelUnloadRequest FakeService::last_unload() const {
  absl::MutexLock lock(&mu_);
  return last_unload_;
}

std::multimap<std::string, std::string> FakeService::last_headers() const {
  absl::MutexLock lock(&mu_);
  return last_headers_;
}

int FakeService::calls() const {
  absl::MutexLock lock(&mu_);
  return calls_;
}

Status FakeService::Enter(grpc::ServerContext* context) {
  absl::MutexLock lock(&mu_);
  ++calls_;
  last_headers_.clear();
  for (const auto& [name, value] : context->client_metadata()) {
    last_headers_.emplace(std::string(name.data(), name.size()),
                          std::string(value.data(), value.size()));
  }
  if (failures_.empty()) return Status::OK;
  const Failure failure = std::move(failures_.front());
  failures_.pop_front();
  if (!failure.pushback_ms.empty()) {
    context->AddTrailingMetadata("grpc-retry-pushback-ms", failure.pushback_ms);
  }
  return failure.status;
}

Status FakeService::ServerLive(grpc::ServerContext* context,
                               const inference::ServerLiveRequest*,
                               inference::ServerLiveResponse* response) {
  response->set_live(true);
  return Enter(context);
}

Status FakeService::ServerReady(grpc::ServerContext* context,
                                const inference::ServerReadyRequest*,
                                inference::ServerReadyResponse* response) {
  response->set_ready(true);
  return Enter(context);
}

Status FakeService::ModelReady(grpc::ServerContext* context,
                               const inference::ModelReadyRequest* request,
                               inference::ModelReadyResponse* response) {
  response->set_ready(request->name() == "digits");
  const Status status = Enter(context);
  if (!status.ok()) return status;
  return Known(request->name()) ? Status::OK : Unknown(request->name());
}

Status FakeService::ServerMetadata(
    grpc::ServerContext* context, const inference::ServerMetadataRequest*,
    inference::ServerMetadataResponse* response) {
  response->set_name("fake");
  response->set_version("1.2.3");
  response->add_extensions(std::string("statistics"));
  return Enter(context);
}

Status FakeService::ModelMetadata(
    grpc::ServerContext* context,
    const inference::ModelMetadataRequest* request,
    inference::ModelMetadataResponse* response) {
  const Status status = Enter(context);
  if (!status.ok()) return status;
  response->set_name(request->name());
  response->add_versions(std::string(1, '1'));
  if (request->name() == "digits") {
    AddMetadata("image", "FP32", {-1, 1, 8, 8}, response->mutable_inputs());
    AddMetadata("scores", "FP32", {-1, 10}, response->mutable_outputs());
    return Status::OK;
  }
  if (request->name() == "simple") {
    AddMetadata("INPUT0", "INT32", {-1, 16}, response->mutable_inputs());
    AddMetadata("INPUT1", "INT32", {-1, 16}, response->mutable_inputs());
    AddMetadata("OUTPUT0", "INT32", {-1, 16}, response->mutable_outputs());
    AddMetadata("OUTPUT1", "INT32", {-1, 16}, response->mutable_outputs());
    return Status::OK;
  }
  return Unknown(request->name());
}

Status FakeService::ModelInfer(grpc::ServerContext* context,
                               const inference::ModelInferRequest* request,
                               inference::ModelInferResponse* response) {
  const Status status = Enter(context);
  if (!status.ok()) return status;
  const std::string& model = request->model_name();
  if (!Known(model)) return Unknown(model);
  response->set_model_name(model);
  response->set_model_version("1");
  response->set_id(request->id());
  if (model == "digits") {
    Digits(*request, *response);
  } else {
    Simple(*request, *response);
  }
  absl::MutexLock lock(&mu_);
  last_infer_ = *request;
  ++inferences_[model];
  return Status::OK;
}

Status FakeService::ModelConfig(grpc::ServerContext* context,
                                const inference::ModelConfigRequest* request,
                                inference::ModelConfigResponse* response) {
  const Status status = Enter(context);
  if (!status.ok()) return status;
  if (!Known(request->name())) return Unknown(request->name());
  response->mutable_config()->set_name(request->name());
  response->mutable_config()->set_max_batch_size(32);
  return Status::OK;
}

Status FakeService::ModelStatistics(
    grpc::ServerContext* context,
    const inference::ModelStatisticsRequest* request,
    inference::ModelStatisticsResponse* response) {
  const Status status = Enter(context);
  if (!status.ok()) return status;
  const std::string& name = request->name();
  if (!name.empty() && !Known(name)) return Unknown(name);
  absl::MutexLock lock(&mu_);
  for (const char* model : {"digits", "simple"}) {
    if (!name.empty() && name != model) continue;
    FillStatistics(model, inferences_[model], *response->add_model_stats());
  }
  return Status::OK;
}

Status FakeService::RepositoryIndex(
    grpc::ServerContext* context,
    const inference::RepositoryIndexRequest* request,
    inference::RepositoryIndexResponse* response) {
  AddIndex("digits", "READY", "", response);
  if (!request->ready())
    AddIndex("simple", "UNAVAILABLE", "unloaded", response);
  return Enter(context);
}

Status FakeService::RepositoryModelLoad(
    grpc::ServerContext* context,
    const inference::RepositoryModelLoadRequest* request,
    inference::RepositoryModelLoadResponse*) {
  const Status status = Enter(context);
  if (!status.ok()) return status;
  absl::MutexLock lock(&mu_);
  last_load_ = *request;
  return Known(request->model_name()) ? Status::OK
                                      : Unknown(request->model_name());
}

Status FakeService::RepositoryModelUnload(
    grpc::ServerContext* context,
    const inference::RepositoryModelUnloadRequest* request,
    inference::RepositoryModelUnloadResponse*) {
  const Status status = Enter(context);
  if (!status.ok()) return status;
  absl::MutexLock lock(&mu_);
  last_unload_ = *request;
  return Status::OK;
}

Status FakeHealth::Check(grpc::ServerContext*,
                         const grpc::health::v1::HealthCheckRequest* request,
                         grpc::health::v1::HealthCheckResponse* response) {
  using grpc::health::v1::HealthCheckResponse;
  const std::string& service = request->service();
  if (!service.empty() && !Known(service)) return Unknown(service);
  response->set_status(service == "simple" ? HealthCheckResponse::NOT_SERVING
                                           : HealthCheckResponse::SERVING);
  return Status::OK;
}

FakeServer::FakeServer(const std::string& address,
                       std::shared_ptr<grpc::ServerCredentials> credentials) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, std::move(credentials), &port_);
  builder.RegisterService(&service_);
  builder.RegisterService(&health_);
  server_ = builder.BuildAndStart();
  address_ = absl::StartsWith(address, "unix:")
                 ? address
                 : absl::StrCat("localhost:", port_);
}

FakeServer::~FakeServer() {
  server_->Shutdown(std::chrono::system_clock::now());
}

}  // namespace reprise::client::testing
