// Which RPCs are served, by which handler, on which thread.
#pragma once

#include <memory>
#include <vector>

#include "grpcpp/completion_queue.h"
#include "prometheus/counter.h"
#include "prometheus/family.h"
#include "proto/grpc_service.grpc.pb.h"
#include "proto/health.grpc.pb.h"
#include "runtime/worker/model_manager.h"
#include "server/grpc/inference_service.h"
#include "server/grpc/unary_call.h"
#include "server/grpc/work_threads.h"

namespace reprise {

using Inference = inference::GRPCInferenceService;

// ModelInfer as raw bytes; the other RPCs that are served parsed. Those marked
// generic are not served: they go where unknown methods go (unimplemented.h).
using UnservedMethods = Inference::WithGenericMethod_ModelStreamInfer<
    Inference::WithGenericMethod_SystemSharedMemoryStatus<
        Inference::WithGenericMethod_SystemSharedMemoryRegister<
            Inference::WithGenericMethod_SystemSharedMemoryUnregister<
                Inference::WithGenericMethod_CudaSharedMemoryStatus<
                    Inference::WithGenericMethod_CudaSharedMemoryRegister<
                        Inference::WithGenericMethod_CudaSharedMemoryUnregister<
                            Inference::WithGenericMethod_TraceSetting<
                                Inference::WithGenericMethod_LogSettings<
                                    Inference::Service>>>>>>>>>;
using ParsedMethods = Inference::WithAsyncMethod_ServerLive<
    Inference::WithAsyncMethod_ServerReady<
        Inference::WithAsyncMethod_ModelReady<
            Inference::WithAsyncMethod_ServerMetadata<
                Inference::WithAsyncMethod_ModelMetadata<
                    Inference::WithAsyncMethod_ModelConfig<
                        Inference::WithAsyncMethod_ModelStatistics<
                            Inference::WithAsyncMethod_RepositoryIndex<
                                Inference::WithAsyncMethod_RepositoryModelLoad<
                                    Inference::
                                        WithAsyncMethod_RepositoryModelUnload<
                                            UnservedMethods>>>>>>>>>>;
using InferenceService = Inference::WithRawMethod_ModelInfer<ParsedMethods>;

// All must outlive the methods.
struct MethodDeps {
  InferenceService& inference;
  grpc::health::v1::Health::AsyncService& health;
  grpc::ServerCompletionQueue& queue;
  const ServiceContext& context;
  ModelManager& manager;
  WorkThreads& workers;  // for what takes longer than a look-up
  WorkThreads& loaders;  // for what blocks
  prometheus::Family<prometheus::Counter>& calls;
};

// Posts a call of every unary method but ModelInfer; each call posts the next.
// What is returned must outlive the calls.
std::vector<std::unique_ptr<AnyMethod>> PostUnaryMethods(
    const MethodDeps& deps);

}  // namespace reprise
