#include "server/grpc/unimplemented.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/grpc/completion.h"
#include "server/grpc/shown.h"
#include "server/grpc/status.h"

namespace reprise {
namespace {

// Deletes itself when its reply is sent.
class UnimplementedCall {
 public:
  static void Post(grpc::AsyncGenericService& service,
                   grpc::ServerCompletionQueue& queue) {
    auto* const call = new UnimplementedCall(service, queue);
    service.RequestCall(&call->rpc_, &call->stream_, &queue, &queue,
                        call->arrived_.tag());
  }

 private:
  UnimplementedCall(grpc::AsyncGenericService& service,
                    grpc::ServerCompletionQueue& queue)
      : service_(service), queue_(queue), stream_(&rpc_) {}

  void OnArrived(bool ok) {
    if (!ok) {  // the server is shutting down
      delete this;
      return;
    }
    Post(service_, queue_);
    stream_.Finish(ToGrpc(absl::UnimplementedError(absl::StrCat(
                       "method ", Shown(rpc_.method()), " is not served"))),
                   finished_.tag());
  }

  void OnFinished(bool /*ok*/) { delete this; }

  grpc::AsyncGenericService& service_;
  grpc::ServerCompletionQueue& queue_;
  grpc::GenericServerContext rpc_;
  grpc::GenericServerAsyncReaderWriter stream_;
  Event<UnimplementedCall, &UnimplementedCall::OnArrived> arrived_{this};
  Event<UnimplementedCall, &UnimplementedCall::OnFinished> finished_{this};
};

}  // namespace

void PostUnimplemented(grpc::AsyncGenericService& service,
                       grpc::ServerCompletionQueue& queue) {
  UnimplementedCall::Post(service, queue);
}

}  // namespace reprise
