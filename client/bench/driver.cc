#include "client/bench/driver.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "grpc/support/time.h"
#include "grpcpp/client_context.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/generic_stub.h"

namespace reprise::client {
namespace {

using std::chrono::nanoseconds;
using SteadyClock = std::chrono::steady_clock;
using Time = SteadyClock::time_point;

// gRPC rounds a wait up to whole milliseconds: closer to a due call than this,
// the driver polls instead.
constexpr nanoseconds kPollBefore = std::chrono::microseconds(1200);
constexpr nanoseconds kLongestWait = std::chrono::milliseconds(100);
constexpr nanoseconds kProgressEvery = std::chrono::seconds(1);
constexpr nanoseconds kLate = std::chrono::milliseconds(1);
constexpr size_t kMaxErrorTexts = 20;

gpr_timespec After(nanoseconds wait) {
  if (wait <= nanoseconds::zero()) return gpr_inf_past(GPR_CLOCK_MONOTONIC);
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_nanos(wait.count(), GPR_TIMESPAN));
}

// One caller's place, used again for call after call.
struct Call {
  std::optional<grpc::ClientContext> context;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader;
  grpc::ByteBuffer response;
  grpc::Status status;
  grpc::GenericStub* stub = nullptr;
  Time due;
  bool active = false;
};

// The state of one Drive. Lives on the caller's stack, used by its thread only.
class Driver {
 public:
  Driver(const std::vector<std::shared_ptr<grpc::Channel>>& channels,
         const Load& load, const DriveHooks& hooks);
  ~Driver();

  LoadResult Run();

 private:
  bool Over(Time now) const;
  void StopSending(Time now);
  void SendDue(Time now);
  Call& NewCall();
  void Send(Call& call, Time due, Time now);
  nanoseconds WaitTime(Time now) const;
  void Finish(Call& call, Time now);
  void Count(const grpc::Status& status);
  void Tick(Time now);
  void CancelAll();

  const Load& load_;
  const DriveHooks& hooks_;
  std::vector<std::unique_ptr<grpc::GenericStub>> stubs_;
  grpc::CompletionQueue queue_;
  std::vector<std::unique_ptr<Call>> calls_;
  std::vector<Call*> free_;
  std::optional<Schedule> schedule_;

  LoadResult result_;
  bool sending_ = true;
  bool cancelled_ = false;
  Time start_;
  Time drain_until_ = Time::max();
  Time last_answer_;
  int64_t sent_ = 0;
  int64_t in_flight_ = 0;

  Time tick_;  // when the current interval began
  int64_t tick_calls_ = 0;
  Histogram interval_;
};

Driver::Driver(const std::vector<std::shared_ptr<grpc::Channel>>& channels,
               const Load& load, const DriveHooks& hooks)
    : load_(load), hooks_(hooks) {
  for (const std::shared_ptr<grpc::Channel>& channel : channels) {
    stubs_.push_back(std::make_unique<grpc::GenericStub>(channel));
  }
  if (load.rate.has_value()) {
    schedule_.emplace(*load.rate, load.distribution, load.seed);
  }
}

Driver::~Driver() {
  queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
  }
}

LoadResult Driver::Run() {
  start_ = last_answer_ = tick_ = SteadyClock::now();
  if (!schedule_.has_value()) {
    for (int i = 0; i < load_.concurrency && !Over(start_); ++i) {
      Send(NewCall(), start_, start_);
    }
  }
  for (;;) {
    const Time now = SteadyClock::now();
    if (sending_ && schedule_.has_value()) SendDue(now);
    if (sending_ && Over(now)) StopSending(now);
    if (!sending_ && in_flight_ == 0) break;
    if (now >= drain_until_ && !cancelled_) CancelAll();
    if (now - tick_ >= kProgressEvery) Tick(now);

    void* tag = nullptr;
    bool ok = false;
    if (queue_.AsyncNext(&tag, &ok, After(WaitTime(now))) ==
        grpc::CompletionQueue::GOT_EVENT) {
      Finish(*static_cast<Call*>(tag), SteadyClock::now());
    }
  }
  result_.elapsed = last_answer_ - start_;
  const bool ended_by_time = !result_.interrupted && sent_ < load_.max_calls;
  if (ended_by_time) {
    result_.elapsed = std::max(result_.elapsed, load_.duration);
  }
  return std::move(result_);
}

bool Driver::Over(Time now) const {
  if (sent_ >= load_.max_calls || now - start_ >= load_.duration) return true;
  return hooks_.stop != nullptr && hooks_.stop();
}

void Driver::StopSending(Time now) {
  sending_ = false;
  drain_until_ = now + load_.drain;
  result_.interrupted =
      sent_ < load_.max_calls && now - start_ < load_.duration;
  if (!schedule_.has_value() || result_.interrupted) return;
  while (schedule_->due() < load_.duration &&
         sent_ + result_.unsent < load_.max_calls) {
    ++result_.unsent;
    schedule_->Pop();
  }
}

void Driver::SendDue(Time now) {
  while (in_flight_ < load_.max_in_flight && sent_ < load_.max_calls &&
         start_ + schedule_->due() <= now &&
         schedule_->due() < load_.duration) {
    const Time due = start_ + schedule_->due();
    if (now - due > kLate) ++result_.late;
    schedule_->Pop();
    if (free_.empty()) {
      Send(NewCall(), due, now);
    } else {
      Call& call = *free_.back();
      free_.pop_back();
      Send(call, due, now);
    }
  }
}

Call& Driver::NewCall() {
  calls_.push_back(std::make_unique<Call>());
  Call& call = *calls_.back();
  call.stub = stubs_[(calls_.size() - 1) % stubs_.size()].get();
  return call;
}

void Driver::Send(Call& call, Time due, Time now) {
  call.context.emplace();
  if (load_.deadline > nanoseconds::zero()) {
    call.context->set_deadline(After(load_.deadline - (now - due)));
  }
  for (const auto& [name, value] : load_.headers) {
    call.context->AddMetadata(name, value);
  }
  call.due = due;
  call.active = true;
  ++sent_;
  ++in_flight_;
  call.reader = call.stub->PrepareUnaryCall(&*call.context, load_.method,
                                            load_.request, &queue_);
  call.reader->StartCall();
  call.reader->Finish(&call.response, &call.status, &call);
}

nanoseconds Driver::WaitTime(Time now) const {
  nanoseconds wait = kLongestWait;
  if (!sending_) return wait;
  wait = std::min<nanoseconds>(wait, start_ + load_.duration - now);
  if (schedule_.has_value() && in_flight_ < load_.max_in_flight) {
    wait = std::min<nanoseconds>(wait,
                                 start_ + schedule_->due() - now - kPollBefore);
  }
  return wait;
}

void Driver::Finish(Call& call, Time now) {
  call.active = false;
  --in_flight_;
  last_answer_ = now;
  ++result_.calls;
  if (call.status.ok()) {
    const int64_t latency = nanoseconds(now - call.due).count();
    result_.latency.Record(latency);
    interval_.Record(latency);
    ++result_.by_code[grpc::StatusCode::OK];
  } else {
    Count(call.status);
  }
  call.response.Clear();
  if (schedule_.has_value()) {
    free_.push_back(&call);
  } else if (sending_ && !Over(now)) {
    Send(call, now, now);
  }
}

void Driver::Count(const grpc::Status& status) {
  ++result_.by_code[status.error_code()];
  std::string text =
      absl::StrCat(absl::StatusCodeToString(
                       static_cast<absl::StatusCode>(status.error_code())),
                   ": ", status.error_message());
  const bool known = result_.errors.count(text) != 0;
  if (!known && result_.errors.size() >= kMaxErrorTexts) text = "others";
  ++result_.errors[text];
}

void Driver::Tick(Time now) {
  if (hooks_.progress != nullptr) {
    const double seconds = std::chrono::duration<double>(now - tick_).count();
    hooks_.progress({now - start_, result_.calls, result_.calls - result_.ok(),
                     in_flight_,
                     static_cast<double>(result_.calls - tick_calls_) / seconds,
                     interval_.Percentile(50), interval_.Percentile(99)});
  }
  tick_ = now;
  tick_calls_ = result_.calls;
  interval_.Clear();
}

void Driver::CancelAll() {
  cancelled_ = true;
  for (const std::unique_ptr<Call>& call : calls_) {
    if (call->active) call->context->TryCancel();
  }
}

}  // namespace

int64_t LoadResult::ok() const { return latency.count(); }

double LoadResult::rate() const {
  const double seconds = std::chrono::duration<double>(elapsed).count();
  return seconds > 0 ? static_cast<double>(calls) / seconds : 0;
}

LoadResult Drive(const std::vector<std::shared_ptr<grpc::Channel>>& channels,
                 const Load& load, const DriveHooks& hooks) {
  return Driver(channels, load, hooks).Run();
}

}  // namespace reprise::client
