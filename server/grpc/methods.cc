#include "server/grpc/methods.h"

#include <functional>
#include <utility>

#include "server/grpc/health_service.h"
#include "server/grpc/repository_service.h"

namespace reprise {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

class Poster {
 public:
  explicit Poster(const MethodDeps& deps) : deps_(deps) {}

  // `method` is the generated RequestX of `service`.
  template <typename Service, typename Base, typename Request,
            typename Response>
  void Post(const char* name, Service& service,
            void (Base::*method)(grpc::ServerContext*, Request*,
                                 grpc::ServerAsyncResponseWriter<Response>*,
                                 grpc::CompletionQueue*,
                                 grpc::ServerCompletionQueue*, void*),
            std::function<absl::Status(const Request&, Response*)> handle,
            WorkThreads* threads = nullptr) {
    auto unary = std::make_unique<UnaryMethod<Request, Response>>();
    unary->name = name;
    unary->request_call = [&service, method, queue = &deps_.queue](
                              grpc::ServerContext* rpc, Request* request,
                              grpc::ServerAsyncResponseWriter<Response>* writer,
                              void* tag) {
      (service.*method)(rpc, request, writer, queue, queue, tag);
    };
    unary->handle = std::move(handle);
    unary->threads = threads;
    unary->calls = &deps_.calls;
    UnaryCall<Request, Response>::Post(*unary);
    methods_.push_back(std::move(unary));
  }

  std::vector<std::unique_ptr<AnyMethod>> Take() { return std::move(methods_); }

 private:
  const MethodDeps& deps_;
  std::vector<std::unique_ptr<AnyMethod>> methods_;
};

// A handler with its context in front.
template <typename Context, typename Request, typename Response>
std::function<absl::Status(const Request&, Response*)> Bind(
    absl::Status (*handler)(Context&, const Request&, Response*),
    Context& context) {
  return [handler, &context](const Request& request, Response* response) {
    return handler(context, request, response);
  };
}

void PostInference(const MethodDeps& deps, Poster& poster) {
  InferenceService& service = deps.inference;
  const ServiceContext& context = deps.context;
  poster.Post("ServerLive", service, &InferenceService::RequestServerLive,
              Bind(ServerLive, context));
  poster.Post("ServerReady", service, &InferenceService::RequestServerReady,
              Bind(ServerReady, context));
  poster.Post("ModelReady", service, &InferenceService::RequestModelReady,
              Bind(ModelReady, context));
  poster.Post("ServerMetadata", service,
              &InferenceService::RequestServerMetadata,
              Bind(ServerMetadata, context));
  poster.Post("ModelMetadata", service, &InferenceService::RequestModelMetadata,
              Bind(ModelMetadata, context), &deps.workers);
  poster.Post("ModelConfig", service, &InferenceService::RequestModelConfig,
              Bind(GetModelConfig, context), &deps.workers);
  poster.Post("ModelStatistics", service,
              &InferenceService::RequestModelStatistics,
              Bind(GetModelStatistics, context), &deps.workers);
}

void PostRepository(const MethodDeps& deps, Poster& poster) {
  const ModelManager& index = deps.manager;
  poster.Post("RepositoryIndex", deps.inference,
              &InferenceService::RequestRepositoryIndex,
              Bind(RepositoryIndex, index), &deps.workers);
  poster.Post("RepositoryModelLoad", deps.inference,
              &InferenceService::RequestRepositoryModelLoad,
              Bind(RepositoryModelLoad, deps.manager), &deps.loaders);
  poster.Post("RepositoryModelUnload", deps.inference,
              &InferenceService::RequestRepositoryModelUnload,
              Bind(RepositoryModelUnload, deps.manager), &deps.loaders);
}

}  // namespace

std::vector<std::unique_ptr<AnyMethod>> PostUnaryMethods(
    const MethodDeps& deps) {
  Poster poster(deps);
  PostInference(deps, poster);
  PostRepository(deps, poster);
  using Health = grpc::health::v1::Health::AsyncService;
  poster.Post("Check", deps.health, &Health::RequestCheck,
              Bind(CheckHealth, deps.context.health));
  poster.Post("List", deps.health, &Health::RequestList,
              Bind(ListHealth, deps.context.health), &deps.workers);
  return poster.Take();
}

}  // namespace reprise
