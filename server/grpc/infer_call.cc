#include "server/grpc/infer_call.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/worker/device_worker.h"
#include "runtime/worker/retry_after.h"
#include "server/grpc/encode.h"
#include "server/grpc/shown.h"
#include "server/grpc/status.h"

namespace reprise {
namespace {

constexpr size_t kSmallReply = size_t{64} << 10;

// When the caller wants the reply, by `clock`; InfiniteFuture without a gRPC
// deadline. gRPC keeps it by a clock that nobody sets, too, and shows it by the
// wall clock of this moment.
absl::Time CallerDeadline(const grpc::ServerContext& rpc, const Clock& clock) {
  const std::chrono::system_clock::time_point deadline = rpc.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) {
    return absl::InfiniteFuture();
  }
  return clock.FromWall(absl::FromChrono(deadline));
}

DeadlineOutcome OutcomeOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kDeadlineExceeded:
      return DeadlineOutcome::kDroppedQueue;
    case absl::StatusCode::kCancelled:
      return DeadlineOutcome::kCancelled;
    case absl::StatusCode::kResourceExhausted:
      return DeadlineOutcome::kRejectedAdmission;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kUnimplemented:
      return DeadlineOutcome::kInvalid;
    default:
      return DeadlineOutcome::kFailed;
  }
}

// What Offer refused.
DeadlineOutcome RefusalOutcome(absl::StatusCode code) {
  return code == absl::StatusCode::kDeadlineExceeded
             ? DeadlineOutcome::kRejectedAdmission
             : OutcomeOf(code);
}

// Whether a reply is sent faster than it is handed to another thread.
bool IsSmall(const BatchOutput& output) {
  if (!output) return true;
  size_t bytes = 0;
  const size_t count = output.signature().outputs.size();
  for (size_t k = 0; k < count; ++k) {
    bytes += output.bytes(static_cast<int>(k)).size();
  }
  return bytes <= kSmallReply;
}

}  // namespace

void InferCall::Post(InferContext& context) {
  auto* const call = new InferCall(context);
  call->rpc_.AsyncNotifyWhenDone(call->done_.tag());
  context.request_call(&call->rpc_, &call->message_, &call->writer_,
                       call->arrived_.tag());
}

void InferCall::OnArrived(bool ok) {
  if (!ok) {  // the server is shutting down; no other event comes
    delete this;
    return;
  }
  arrival = context_.clock.Now();
  deadline = CallerDeadline(rpc_, context_.clock);
  context_.metrics.AddReceived(message_.Length());
  series_ = &context_.metrics.unknown();
  if (absl::Status status = Parse(); !status.ok()) {
    Refuse(status, DeadlineOutcome::kInvalid);
  } else if (status = Accept(); !status.ok()) {
    Refuse(status, RefusalOutcome(status.code()));
  }
  Post(context_);  // of several that wait: this call comes first
  Unref();
}

absl::Status InferCall::Parse() {
  if (message_.TrySingleSlice(&slice_).ok()) {
    pieces_.push_back(std::as_bytes(std::span(slice_.begin(), slice_.size())));
  } else if (message_.Dump(&slices_).ok()) {
    for (const grpc::Slice& slice : slices_) {
      pieces_.push_back(std::as_bytes(std::span(slice.begin(), slice.size())));
    }
  }
  return ParseInferRequest(pieces_, request_);
}

absl::Status InferCall::Accept() {
  REPRISE_ASSIGN_OR_RETURN(
      model_,
      context_.registry.Acquire(request_.model_name, request_.model_version));
  series_ = &context_.metrics.For(*model_);
  REPRISE_RETURN_IF_ERROR(DecodeRequest(request_, *model_, decoded_, *this));
  REPRISE_RETURN_IF_ERROR(context_.manager.Offer(*model_, *this));
  // From here on another thread may complete the task at any time; the event
  // that is being handled keeps the object.
  accepted_ = true;
  if (gone_) CancelOnce();
  return absl::OkStatus();
}

void InferCall::OnDone(bool /*ok*/) {
  if (rpc_.IsCancelled()) {
    gone_ = true;
    if (accepted_) CancelOnce();
  }
  Unref();
}

// The caller may go while the task is being offered: whichever of the two sides
// comes second cancels.
void InferCall::CancelOnce() {
  if (completed_ || cancelled_.exchange(true)) return;
  context_.manager.Cancel(*model_, *this);
}

void InferCall::Complete(TaskResult result) {
  completed_ = true;
  result_ = std::move(result);
  if (result_.may_block_briefly && IsSmall(result_.output)) {
    Reply();
  } else {
    context_.replies.Push(this);
  }
}

void InferCall::Reply() {
  absl::Status status = std::move(result_.status);
  // gRPC itself ends a call whose deadline passes, which looks like a caller
  // who went away.
  if (absl::IsCancelled(status) && context_.clock.Now() >= deadline) {
    status = absl::DeadlineExceededError("deadline exceeded while waiting");
  }
  if (status.ok() && gone_) {  // it ran for nobody
    result_.output.Reset();
    const bool late = context_.clock.Now() >= deadline;
    Fail(late ? absl::DeadlineExceededError("deadline exceeded while running")
              : absl::CancelledError("cancelled while running"),
         late ? DeadlineOutcome::kLate : DeadlineOutcome::kCancelled);
    return;
  }
  if (!status.ok()) {
    Fail(status, OutcomeOf(status.code()));
    return;
  }
  const ReplyHeader header{*model_, request_.id, decoded_.outputs,
                           context_.max_reply_bytes};
  grpc::ByteBuffer reply;
  status = EncodeReply(header, result_.output, reply);
  result_.output.Reset();
  if (!status.ok()) {
    Fail(status, OutcomeOf(status.code()));
    return;
  }
  context_.metrics.AddSent(reply.Length());
  series_->AddRows(rows);
  // What is recorded before the reply goes can be seen by whoever has it.
  Record(absl::StatusCode::kOk, DeadlineOutcome::kMet);
  writer_.Finish(reply, grpc::Status::OK, finished_.tag());
}

void InferCall::Refuse(const absl::Status& status, DeadlineOutcome outcome) {
  if (!absl::IsResourceExhausted(status)) {
    Fail(status, outcome);
    return;
  }
  rpc_.AddTrailingMetadata(kPushbackKey, PushbackText(RetryAfter(status)));
  Fail(context_.unavailable_when_full ? absl::UnavailableError(status.message())
                                      : status,
       outcome);
}

void InferCall::Fail(const absl::Status& status, DeadlineOutcome outcome) {
  Record(status.code(), outcome);
  writer_.FinishWithError(
      ToGrpc(absl::Status(status.code(),
                          WithRequestId(request_.id, status.message()))),
      finished_.tag());
}

void InferCall::Record(absl::StatusCode code, DeadlineOutcome outcome) {
  const absl::Time now = context_.clock.Now();
  if (outcome == DeadlineOutcome::kMet && now > deadline) {
    outcome = DeadlineOutcome::kLate;
  }
  series_->Count(code, outcome, now - arrival);
  if (model_ == nullptr) return;
  const StageTimes& times = result_.times;
  if (code == absl::StatusCode::kOk) {
    // The stages are contiguous: they add up to the whole.
    model_->statistics().AddSuccess(
        {.finished = now,
         .rows = rows,
         .batch_rows = result_.batch_rows,
         .total = now - arrival,
         .queue = times.picked - arrival,
         .compute_input = times.gathered - times.picked,
         .compute_infer = times.computed - times.gathered,
         .compute_output = now - times.computed});
  } else {
    model_->statistics().AddFailure(now - arrival);
  }
  context_.slow_log.Observe({*model_, request_.id, *this, times, now, code});
}

void InferCall::OnFinished(bool /*ok*/) { Unref(); }

void InferCall::Unref() {
  if (--references_ == 0) delete this;
}

}  // namespace reprise
