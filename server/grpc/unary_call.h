// Unary calls with parsed messages: every RPC but ModelInfer and the streams.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/async_unary_call.h"
#include "prometheus/counter.h"
#include "prometheus/family.h"
#include "server/grpc/completion.h"
#include "server/grpc/status.h"
#include "server/grpc/work_threads.h"

namespace reprise {

// For whoever keeps methods of several types.
struct AnyMethod {
  virtual ~AnyMethod() = default;
};

// One method as its calls see it; outlives them.
template <typename Request, typename Response>
struct UnaryMethod final : AnyMethod {
  using Writer = grpc::ServerAsyncResponseWriter<Response>;

  std::string name;
  // Asks gRPC for the next call of this method.
  std::function<void(grpc::ServerContext*, Request*, Writer*, void*)>
      request_call;
  std::function<absl::Status(const Request&, Response*)> handle;
  // Where `handle` runs; null: on the polling thread, so it must be quick and
  // never wait.
  WorkThreads* threads = nullptr;
  // Calls by method and code; must outlive the method.
  prometheus::Family<prometheus::Counter>* calls = nullptr;
};

// Deletes itself when its reply is sent.
template <typename Request, typename Response>
class UnaryCall {
 public:
  using Method = UnaryMethod<Request, Response>;

  static void Post(const Method& method) {
    auto* const call = new UnaryCall(method);
    method.request_call(&call->rpc_, &call->request_, &call->writer_,
                        call->arrived_.tag());
  }

 private:
  explicit UnaryCall(const Method& method) : method_(method), writer_(&rpc_) {}

  void OnArrived(bool ok) {
    if (!ok) {  // the server is shutting down
      delete this;
      return;
    }
    Post(method_);
    if (method_.threads != nullptr) {
      method_.threads->Run([this] { Handle(); });
    } else {
      Handle();
    }
  }

  void Handle() {
    const absl::Status status = method_.handle(request_, &response_);
    method_.calls
        ->Add({{"method", method_.name}, {"code", CodeName(status.code())}})
        .Increment();
    if (status.ok()) {
      writer_.Finish(response_, grpc::Status::OK, finished_.tag());
    } else {
      writer_.FinishWithError(ToGrpc(status), finished_.tag());
    }
  }

  void OnFinished(bool /*ok*/) { delete this; }

  const Method& method_;
  grpc::ServerContext rpc_;
  Request request_;
  Response response_;
  typename Method::Writer writer_;
  Event<UnaryCall, &UnaryCall::OnArrived> arrived_{this};
  Event<UnaryCall, &UnaryCall::OnFinished> finished_{this};
};

}  // namespace reprise
