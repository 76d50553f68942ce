// The RPCs about server and models; ModelInfer has a file of its own.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "proto/grpc_service.pb.h"
#include "runtime/base/clock.h"
#include "runtime/model/registry.h"
#include "server/grpc/health_state.h"

namespace reprise {

// What the handlers read; outlives them.
struct ServiceContext {
  const ModelRegistry& registry;
  const HealthState& health;
  std::string server_version;
  const Clock& clock;  // of the models' statistics
};

// Each fills an empty response. Unknown models and versions are NOT_FOUND,
// versions that are not numbers INVALID_ARGUMENT, those that are not ready
// UNAVAILABLE, as ModelRegistry::Acquire has it; the text names the model.
// Threads: any; none of them waits.
absl::Status ServerLive(const ServiceContext& context,
                        const inference::ServerLiveRequest& request,
                        inference::ServerLiveResponse* response);
absl::Status ServerReady(const ServiceContext& context,
                         const inference::ServerReadyRequest& request,
                         inference::ServerReadyResponse* response);
// OK and false for what is known but not ready.
absl::Status ModelReady(const ServiceContext& context,
                        const inference::ModelReadyRequest& request,
                        inference::ModelReadyResponse* response);
absl::Status ServerMetadata(const ServiceContext& context,
                            const inference::ServerMetadataRequest& request,
                            inference::ServerMetadataResponse* response);
absl::Status ModelMetadata(const ServiceContext& context,
                           const inference::ModelMetadataRequest& request,
                           inference::ModelMetadataResponse* response);
absl::Status GetModelConfig(const ServiceContext& context,
                            const inference::ModelConfigRequest& request,
                            inference::ModelConfigResponse* response);
// Sorted by name, then version; all models if the name is empty.
absl::Status GetModelStatistics(
    const ServiceContext& context,
    const inference::ModelStatisticsRequest& request,
    inference::ModelStatisticsResponse* response);

}  // namespace reprise
