// Server reflection, v1 and v1alpha: grpcurl, ghz and gateways need no files.
#pragma once

#include <string>
#include <vector>

#include "grpcpp/completion_queue.h"
#include "grpcpp/impl/codegen/service_type.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/async_stream.h"
#include "prometheus/counter.h"
#include "proto/reflection.pb.h"

namespace reprise {

// Answers one question; what cannot be answered is an error response.
grpc::reflection::v1::ServerReflectionResponse Reflect(
    const std::vector<std::string>& services,
    const grpc::reflection::v1::ServerReflectionRequest& request);

// The service under one of its names. gRPC's own plug-in serves v1alpha only,
// and brings polling threads that compete with ours.
class ReflectionService final : public grpc::Service {
 public:
  using Request = grpc::reflection::v1::ServerReflectionRequest;
  using Response = grpc::reflection::v1::ServerReflectionResponse;
  using Stream = grpc::ServerAsyncReaderWriter<Response, Request>;

  // `package` is "grpc.reflection.v1" or "grpc.reflection.v1alpha"; `services`
  // are the names to list.
  ReflectionService(const std::string& package,
                    std::vector<std::string> services);

  const std::vector<std::string>& services() const { return services_; }
  void RequestInfo(grpc::ServerContext* rpc, Stream* stream,
                   grpc::ServerCompletionQueue* queue, void* tag) {
    RequestAsyncBidiStreaming(0, rpc, stream, queue, queue, tag);
  }

 private:
  const std::vector<std::string> services_;
  const std::string method_;
};

// What the streams of a service have in common; outlives them. `finished`
// counts those that have ended.
struct ReflectionContext {
  ReflectionService& service;
  grpc::ServerCompletionQueue& queue;
  prometheus::Counter& finished;
};

// Posts a stream: it takes the next one that arrives and posts another.
void PostReflection(ReflectionContext& context);

}  // namespace reprise
