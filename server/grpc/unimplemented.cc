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
  static void Post(UnimplementedContext& context) {
    auto* const call = new UnimplementedCall(context);
    context.service.RequestCall(&call->rpc_, &call->stream_, &context.queue,
                                &context.queue, call->arrived_.tag());
  }

 private:
  explicit UnimplementedCall(UnimplementedContext& context)
      : context_(context), stream_(&rpc_) {}

  void OnArrived(bool ok) {
    if (!ok) {  // the server is shutting down
      delete this;
      return;
    }
    Post(context_);
    context_.answered.Increment();
    stream_.Finish(ToGrpc(absl::UnimplementedError(absl::StrCat(
                       "method ", Shown(rpc_.method()), " is not served"))),
                   finished_.tag());
  }

  void OnFinished(bool /*ok*/) { delete this; }

  UnimplementedContext& context_;
  grpc::GenericServerContext rpc_;
  grpc::GenericServerAsyncReaderWriter stream_;
  Event<UnimplementedCall, &UnimplementedCall::OnArrived> arrived_{this};
  Event<UnimplementedCall, &UnimplementedCall::OnFinished> finished_{this};
};

}  // namespace

void PostUnimplemented(UnimplementedContext& context) {
  UnimplementedCall::Post(context);
}

}  // namespace reprise
