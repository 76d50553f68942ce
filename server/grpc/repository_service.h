// The RPCs about the model repository.
#pragma once

#include "absl/status/status.h"
#include "proto/grpc_service.pb.h"
#include "runtime/worker/model_manager.h"
#include "server/grpc/health_state.h"

namespace reprise {

// UNIMPLEMENTED, here and below, if a repository is named: they are not told
// apart.
absl::Status RepositoryIndex(const ModelManager& manager,
                             const inference::RepositoryIndexRequest& request,
                             inference::RepositoryIndexResponse* response);

// INVALID_ARGUMENT: an unknown parameter, or one of another type. Otherwise as
// ModelManager::Load. Blocks.
absl::Status RepositoryModelLoad(
    ModelManager& manager, const inference::RepositoryModelLoadRequest& request,
    inference::RepositoryModelLoadResponse* response);

// INVALID_ARGUMENT: `unload_dependents` that is not a bool. Otherwise as
// ModelManager::Unload. Blocks.
absl::Status RepositoryModelUnload(
    ModelManager& manager,
    const inference::RepositoryModelUnloadRequest& request,
    inference::RepositoryModelUnloadResponse* response);

}  // namespace reprise
