// One ModelInfer call, from its arrival to the end of its reply.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/async_unary_call.h"
#include "grpcpp/support/byte_buffer.h"
#include "runtime/base/clock.h"
#include "runtime/batch/infer_task.h"
#include "runtime/model/registry.h"
#include "runtime/worker/model_manager.h"
#include "server/grpc/completion.h"
#include "server/grpc/decode.h"
#include "server/grpc/infer_metrics.h"
#include "server/grpc/infer_request.h"
#include "server/grpc/reply_thread.h"
#include "server/grpc/slow_log.h"

namespace reprise {

// What all calls share; outlives them.
struct InferContext {
  using Writer = grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>;
  // Asks gRPC for the next ModelInfer call.
  std::function<void(grpc::ServerContext*, grpc::ByteBuffer*, Writer*, void*)>
      request_call;

  const ModelRegistry& registry;
  ModelManager& manager;
  Clock& clock;
  InferMetrics& metrics;
  ReplyThread& replies;
  SlowLog& slow_log;
  size_t max_reply_bytes;
  // Answer a full queue with UNAVAILABLE, as Triton does.
  bool unavailable_when_full;
};

// Owns the request's bytes, the model's handle and the reply. Deletes itself.
//
// posted -> arrived -> refused, or accepted -> completed; then finished. The
// reply is sent in exactly one place, Finish, exactly once.
//
// Lifecycle: Post; the object goes when gRPC has reported both that the call is
// done and that the reply is sent.
// Threads: events come on the threads that poll the queue, Complete on any
// thread, Reply on the reply thread, or on Complete's if that may block
// briefly.
class InferCall final : private InferTask, private PendingReply {
 public:
  // Posts a call: it takes the next ModelInfer that arrives, and posts another.
  static void Post(InferContext& context);
  ~InferCall() override = default;

 private:
  explicit InferCall(InferContext& context)
      : context_(context), writer_(&rpc_) {}

  void OnArrived(bool ok);
  void OnDone(bool ok);
  void OnFinished(bool ok);

  absl::Status Parse();
  absl::Status Accept();
  void CancelOnce();

  void Complete(TaskResult result) override;
  void Reply() override;

  void Refuse(const absl::Status& status, DeadlineOutcome outcome);
  void Fail(const absl::Status& status, DeadlineOutcome outcome);
  void Record(absl::StatusCode code, DeadlineOutcome outcome);
  void Unref();

  InferContext& context_;
  grpc::ServerContext rpc_;
  grpc::ByteBuffer message_;
  InferContext::Writer writer_;
  Event<InferCall, &InferCall::OnArrived> arrived_{this};
  Event<InferCall, &InferCall::OnDone> done_{this};
  Event<InferCall, &InferCall::OnFinished> finished_{this};

  // The message where gRPC put it; the slices keep it there.
  std::vector<grpc::Slice> slices_;
  grpc::Slice slice_;
  absl::InlinedVector<WireReader::Piece, 4> pieces_;
  InferRequest request_;
  ModelHandle model_;
  ModelSeries* series_ = nullptr;
  DecodedRequest decoded_;
  TaskResult result_;

  // One for each event that is still to come.
  std::atomic<int> references_{3};
  std::atomic<bool> accepted_{false};
  std::atomic<bool> gone_{false};  // the caller
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> completed_{false};
};

}  // namespace reprise
