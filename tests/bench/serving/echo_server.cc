// A gRPC server that sends back the bytes that it was sent: the floor that
// serving is measured against. It neither parses nor copies a message.
//
//   serving_echo callback|generic|cq [ADDRESS]
//
// Prints the port that it listens on, and runs until it is killed.
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/callback_common.h>
#include <grpcpp/impl/codegen/server_callback_handlers.h>
#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/async_unary_call.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstdio>
#include <memory>
#include <string>

namespace reprise::bench {
namespace {

constexpr char kMethod[] = "/inference.GRPCInferenceService/ModelInfer";

// The callback API with the library's own unary handler.
class CallbackEcho final : public grpc::Service {
 public:
  CallbackEcho() {
    AddMethod(new grpc::internal::RpcServiceMethod(
        kMethod, grpc::internal::RpcMethod::NORMAL_RPC, nullptr));
    MarkMethodRawCallback(
        0, new grpc::internal::CallbackUnaryHandler<grpc::ByteBuffer,
                                                    grpc::ByteBuffer>(
               [](grpc::CallbackServerContext* context,
                  const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
                 *reply = *request;  // takes references to the slices
                 grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
                 reactor->Finish(grpc::Status::OK);
                 return reactor;
               }));
  }
};

// The callback API without a method table: every call is a stream of one.
class GenericEcho final : public grpc::CallbackGenericService {
 public:
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* /*context*/) override {
    return new Reactor;
  }

 private:
  class Reactor final : public grpc::ServerGenericBidiReactor {
   public:
    Reactor() { StartRead(&message_); }

   private:
    void OnReadDone(bool ok) override {
      if (ok) {
        StartWriteAndFinish(&message_, grpc::WriteOptions(), grpc::Status::OK);
      } else {
        Finish(grpc::Status(grpc::StatusCode::INTERNAL, "no message"));
      }
    }
    void OnDone() override { delete this; }

    grpc::ByteBuffer message_;
  };
};

// A raw method on one completion queue that one thread polls.
class QueueEcho final : public grpc::Service {
 public:
  QueueEcho() {
    AddMethod(new grpc::internal::RpcServiceMethod(
        kMethod, grpc::internal::RpcMethod::NORMAL_RPC, nullptr));
    MarkMethodRaw(0);
  }

  // Serves until the queue is shut down.
  void Serve(grpc::ServerCompletionQueue& queue) {
    constexpr int kPosted = 128;
    for (int i = 0; i < kPosted; ++i) (new Call)->Post(*this, queue);
    void* tag = nullptr;
    bool ok = false;
    while (queue.Next(&tag, &ok)) {
      Call* call = static_cast<Call*>(tag);
      if (!ok || call->replied) {
        delete call;
        continue;
      }
      (new Call)->Post(*this, queue);
      call->replied = true;
      call->responder.Finish(call->message, grpc::Status::OK, call);
    }
  }

 private:
  struct Call {
    void Post(QueueEcho& service, grpc::ServerCompletionQueue& queue) {
      service.RequestAsyncUnary(0, &context, &message, &responder, &queue,
                                &queue, this);
    }

    grpc::ServerContext context;
    grpc::ByteBuffer message;
    grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> responder{&context};
    bool replied = false;
  };
};

int Run(const std::string& form, const std::string& address) {
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  builder.SetMaxReceiveMessageSize(-1);
  CallbackEcho callback;
  GenericEcho generic;
  QueueEcho queued;
  std::unique_ptr<grpc::ServerCompletionQueue> queue;
  if (form == "callback") {
    builder.RegisterService(&callback);
  } else if (form == "generic") {
    builder.RegisterCallbackGenericService(&generic);
  } else if (form == "cq") {
    builder.RegisterService(&queued);
    queue = builder.AddCompletionQueue();
  } else {
    std::fprintf(stderr, "unknown form %s\n", form.c_str());
    return 2;
  }
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return 1;
  std::printf("%d\n", port);
  std::fflush(stdout);
  if (queue != nullptr) queued.Serve(*queue);
  server->Wait();
  return 0;
}

}  // namespace
}  // namespace reprise::bench

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: %s callback|generic|cq [ADDRESS]\n", argv[0]);
    return 2;
  }
  return reprise::bench::Run(argv[1], argc == 3 ? argv[2] : "127.0.0.1:0");
}
