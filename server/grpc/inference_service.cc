#include "server/grpc/inference_service.h"

#include <algorithm>
#include <vector>

#include "runtime/base/status_macros.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/signature.h"

namespace reprise {
namespace {

// Of the protocol's extensions, those that are implemented.
constexpr const char* kExtensions[] = {
    "classification",      "model_repository",   "schedule_policy",
    "model_configuration", "binary_tensor_data", "parameters",
    "statistics"};

void SetTensor(const TensorSpec& spec, bool batched,
               inference::ModelMetadataResponse::TensorMetadata* tensor) {
  tensor->set_name(spec.name);
  const absl::string_view datatype = DTypeName(spec.dtype);
  tensor->set_datatype(datatype.data(), datatype.size());
  if (batched) tensor->add_shape(kFreeDim);
  for (const int64_t dim : spec.dims) tensor->add_shape(dim);
}

void SetDuration(const DurationCount& duration,
                 inference::StatisticDuration* out) {
  out->set_count(duration.count);
  out->set_ns(static_cast<uint64_t>(absl::ToInt64Nanoseconds(duration.total)));
}

void SetStatistics(const ModelVersion& model, const Clock& clock,
                   inference::ModelStatistics* out) {
  const ModelStatistics::Snapshot data = model.statistics().snapshot();
  out->set_name(model.name());
  out->set_version(model.version_text());
  if (data.success.count > 0) {
    out->set_last_inference(static_cast<uint64_t>(
        absl::ToUnixMillis(clock.ToWall(data.last_inference))));
  }
  out->set_inference_count(data.inference_count);
  out->set_execution_count(data.execution_count);
  inference::InferStatistics* const stats = out->mutable_inference_stats();
  SetDuration(data.success, stats->mutable_success());
  SetDuration(data.fail, stats->mutable_fail());
  SetDuration(data.queue, stats->mutable_queue());
  SetDuration(data.compute_input, stats->mutable_compute_input());
  SetDuration(data.compute_infer, stats->mutable_compute_infer());
  SetDuration(data.compute_output, stats->mutable_compute_output());
  stats->mutable_cache_hit();
  stats->mutable_cache_miss();
  for (const auto& [size, batch] : data.batches) {
    inference::InferBatchStatistics* const entry = out->add_batch_stats();
    entry->set_batch_size(size);
    SetDuration(batch.compute_input, entry->mutable_compute_input());
    SetDuration(batch.compute_infer, entry->mutable_compute_infer());
    SetDuration(batch.compute_output, entry->mutable_compute_output());
  }
}

}  // namespace

absl::Status ServerLive(const ServiceContext& context,
                        const inference::ServerLiveRequest& /*request*/,
                        inference::ServerLiveResponse* response) {
  response->set_live(!context.health.lost());
  return absl::OkStatus();
}

absl::Status ServerReady(const ServiceContext& context,
                         const inference::ServerReadyRequest& /*request*/,
                         inference::ServerReadyResponse* response) {
  response->set_ready(context.health.Ready());
  return absl::OkStatus();
}

absl::Status ModelReady(const ServiceContext& context,
                        const inference::ModelReadyRequest& request,
                        inference::ModelReadyResponse* response) {
  const absl::Status status =
      context.registry.Acquire(request.name(), request.version()).status();
  if (status.ok()) {
    response->set_ready(true);
    return absl::OkStatus();
  }
  const bool known = absl::IsUnavailable(status) ||
                     (absl::IsNotFound(status) && request.version().empty() &&
                      context.health.IsKnownModel(request.name()));
  return known ? absl::OkStatus() : status;
}

absl::Status ServerMetadata(const ServiceContext& context,
                            const inference::ServerMetadataRequest& /*request*/,
                            inference::ServerMetadataResponse* response) {
  response->set_name("reprise");
  response->set_version(context.server_version);
  for (const char* extension : kExtensions) response->add_extensions(extension);
  return absl::OkStatus();
}

absl::Status ModelMetadata(const ServiceContext& context,
                           const inference::ModelMetadataRequest& request,
                           inference::ModelMetadataResponse* response) {
  REPRISE_ASSIGN_OR_RETURN(
      const ModelHandle model,
      context.registry.Acquire(request.name(), request.version()));
  response->set_name(model->name());
  if (absl::StatusOr<std::vector<ModelHandle>> versions =
          context.registry.List(model->name(), "");
      versions.ok()) {
    std::sort(versions->begin(), versions->end(),
              [](const ModelHandle& a, const ModelHandle& b) {
                return a->version() < b->version();
              });
    for (const ModelHandle& version : *versions) {
      response->add_versions(version->version_text());
    }
  }
  response->set_platform(model->config().proto.platform());
  const Signature& signature = model->signature();
  for (const TensorSpec& spec : signature.inputs) {
    SetTensor(spec, signature.batched, response->add_inputs());
  }
  for (const TensorSpec& spec : signature.outputs) {
    SetTensor(spec, signature.batched, response->add_outputs());
  }
  return absl::OkStatus();
}

absl::Status GetModelConfig(const ServiceContext& context,
                            const inference::ModelConfigRequest& request,
                            inference::ModelConfigResponse* response) {
  REPRISE_ASSIGN_OR_RETURN(
      const ModelHandle model,
      context.registry.Acquire(request.name(), request.version()));
  *response->mutable_config() = model->config().proto;
  return absl::OkStatus();
}

absl::Status GetModelStatistics(
    const ServiceContext& context,
    const inference::ModelStatisticsRequest& request,
    inference::ModelStatisticsResponse* response) {
  REPRISE_ASSIGN_OR_RETURN(
      std::vector<ModelHandle> models,
      context.registry.List(request.name(),
                            request.name().empty() ? "" : request.version()));
  std::sort(models.begin(), models.end(),
            [](const ModelHandle& a, const ModelHandle& b) {
              return a->name() != b->name() ? a->name() < b->name()
                                            : a->version() < b->version();
            });
  for (const ModelHandle& model : models) {
    SetStatistics(*model, context.clock, response->add_model_stats());
  }
  return absl::OkStatus();
}

}  // namespace reprise
