#include "server/grpc/health_service.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/async_stream.h"
#include "server/grpc/completion.h"
#include "server/grpc/shown.h"

namespace reprise {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using grpc::health::v1::HealthListRequest;
using grpc::health::v1::HealthListResponse;

constexpr absl::Duration kLookEvery = absl::Milliseconds(500);

HealthStatus ToHealth(Serving serving) {
  switch (serving) {
    case Serving::kServing:
      return HealthCheckResponse::SERVING;
    case Serving::kNotServing:
      return HealthCheckResponse::NOT_SERVING;
    case Serving::kUnknownService:
      return HealthCheckResponse::SERVICE_UNKNOWN;
  }
  return HealthCheckResponse::UNKNOWN;
}

// A Watch stream: at most one write is under way; of the changes meanwhile only
// the last matters. Deletes itself when all its events have come.
class WatchCall final : public HealthMonitor::Watcher {
 public:
  static void Post(WatchContext& context) {
    auto* const call = new WatchCall(context);
    call->rpc_.AsyncNotifyWhenDone(call->done_.tag());
    context.service.RequestWatch(&call->rpc_, &call->request_, &call->writer_,
                                 &context.queue, &context.queue,
                                 call->arrived_.tag());
  }

  void Changed(HealthStatus status) override {
    absl::MutexLock lock(&mu_);
    next_ = status;
    WriteNext();
  }

  void Closed() override {
    absl::MutexLock lock(&mu_);
    closing_ = true;
    if (!busy_) Finish();
  }

 private:
  explicit WatchCall(WatchContext& context)
      : context_(context), writer_(&rpc_) {}

  void OnArrived(bool ok) {
    if (!ok) {
      delete this;
      return;
    }
    Post(context_);
    context_.monitor.Watch(request_.service(), this);
    if (gone_) context_.monitor.Unwatch(this);
    Unref();
  }

  void OnWritten(bool ok) {
    {
      absl::MutexLock lock(&mu_);
      busy_ = false;
      if (ok && closing_) {
        Finish();
      } else if (ok) {
        WriteNext();
      }
    }
    Unref();
  }

  void OnFinished(bool /*ok*/) { Unref(); }

  void OnDone(bool /*ok*/) {
    gone_ = true;
    (rpc_.IsCancelled() ? context_.left : context_.closed).Increment();
    context_.monitor.Unwatch(this);
    Unref();
  }

  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (busy_ || finished_ || next_ == sent_) return;
    busy_ = true;
    sent_ = next_;
    HealthCheckResponse response;
    response.set_status(sent_);
    ++references_;
    writer_.Write(response, written_.tag());
  }

  void Finish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (finished_) return;
    finished_ = true;
    ++references_;
    writer_.Finish(
        grpc::Status(grpc::StatusCode::UNAVAILABLE, "server shutting down"),
        finish_.tag());
  }

  void Unref() {
    if (--references_ == 0) delete this;
  }

  WatchContext& context_;
  grpc::ServerContext rpc_;
  HealthCheckRequest request_;
  grpc::ServerAsyncWriter<HealthCheckResponse> writer_;
  Event<WatchCall, &WatchCall::OnArrived> arrived_{this};
  Event<WatchCall, &WatchCall::OnDone> done_{this};
  Event<WatchCall, &WatchCall::OnWritten> written_{this};
  Event<WatchCall, &WatchCall::OnFinished> finish_{this};

  std::atomic<int> references_{2};  // events to come: arrived and done
  std::atomic<bool> gone_{false};

  absl::Mutex mu_;
  HealthStatus next_ ABSL_GUARDED_BY(mu_) = HealthCheckResponse::UNKNOWN;
  HealthStatus sent_ ABSL_GUARDED_BY(mu_) = HealthCheckResponse::UNKNOWN;
  bool busy_ ABSL_GUARDED_BY(mu_) = false;
  bool closing_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace

absl::Status CheckHealth(const HealthState& state,
                         const HealthCheckRequest& request,
                         HealthCheckResponse* response) {
  const Serving serving = state.Of(request.service());
  if (serving == Serving::kUnknownService) {
    return absl::NotFoundError(
        absl::StrCat("unknown service ", Shown(request.service())));
  }
  response->set_status(ToHealth(serving));
  return absl::OkStatus();
}

absl::Status ListHealth(const HealthState& state,
                        const HealthListRequest& /*request*/,
                        HealthListResponse* response) {
  for (const std::string& service : state.Services()) {
    (*response->mutable_statuses())[service].set_status(
        ToHealth(state.Of(service)));
  }
  return absl::OkStatus();
}

HealthMonitor::HealthMonitor(const HealthState& state, Clock& clock)
    : state_(state), clock_(clock), thread_("health", [this] { Run(); }) {}

void HealthMonitor::Watch(const std::string& service, Watcher* watcher) {
  absl::MutexLock lock(&mu_);
  if (closed_) {
    watcher->Closed();
    return;
  }
  const HealthStatus status = ToHealth(state_.Of(service));
  entries_.push_back({service, watcher, status});
  watcher->Changed(status);
}

void HealthMonitor::Unwatch(Watcher* watcher) {
  absl::MutexLock lock(&mu_);
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(),
                                [watcher](const Entry& entry) {
                                  return entry.watcher == watcher;
                                }),
                 entries_.end());
}

void HealthMonitor::Wake() {
  absl::MutexLock lock(&mu_);
  woken_ = true;
}

void HealthMonitor::Close() {
  {
    absl::MutexLock lock(&mu_);
    closed_ = true;
    for (const Entry& entry : entries_) entry.watcher->Closed();
    entries_.clear();
  }
  thread_.Join();
}

void HealthMonitor::Run() {
  absl::MutexLock lock(&mu_);
  while (!closed_) {
    woken_ = false;
    for (Entry& entry : entries_) {
      const HealthStatus status = ToHealth(state_.Of(entry.service));
      if (status == entry.status) continue;
      entry.status = status;
      entry.watcher->Changed(status);
    }
    clock_.Await(mu_, absl::Condition(this, &HealthMonitor::Awake),
                 clock_.Now() + kLookEvery);
  }
}

void PostWatch(WatchContext& context) { WatchCall::Post(context); }

}  // namespace reprise
