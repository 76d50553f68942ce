// Sends a server a request that loses its GPU, among others, and tells what
// callers see of it.
//
//   fault_client TARGET FAULTY HEALTHY TRIGGER
//
// FAULTY doubles FP32 [n,4] (kFaultyKernel), HEALTHY is any model of one FP32
// input [n,m]. Prints a line "NAME SECONDS" for each thing that happened, as
// time of day, and "NAME COUNT" for calls. Status 1: something is not as it
// must be, and says what.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "proto/health.grpc.pb.h"
#include "runtime/base/clock.h"
#include "runtime/base/thread.h"

namespace reprise::gpu_test {
namespace {

using client::Client;
using client::InferCall;
using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

constexpr int kCallers = 4;  // of each model
constexpr int kCallsBefore = 50;
constexpr absl::Duration kPatience = absl::Seconds(20);

// An OK that comes later than this after the first error was computed after it.
constexpr absl::Duration kOnItsWay = absl::Milliseconds(100);

InferCall MakeCall(const std::string& model, const std::string& input,
                   int64_t width, float value) {
  InferCall call;
  call.model = model;
  const std::vector<float> row(static_cast<size_t>(width), value);
  std::string bytes(row.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), row.data(), bytes.size());
  call.inputs.push_back({input, "FP32", {1, width}, std::move(bytes)});
  return call;
}

void Print(const char* name, absl::Time time) {
  std::printf("%s %.6f\n", name,
              static_cast<double>(absl::ToUnixMicros(time)) * 1e-6);
}

// What became of the calls of all callers.
class Record {
 public:
  explicit Record(Clock& clock) : clock_(clock) {}

  void Ok(absl::Time sent) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    ++ok_;
    if (!first_error_.has_value()) return;
    if (sent > *first_error_ || clock_.Now() > *first_error_ + kOnItsWay) {
      Blame("a call was answered OK after the first error");
    }
  }
  // Whether it is the first. What was under way is answered by the server: a
  // connection that breaks says UNAVAILABLE, too.
  bool Error(absl::Time sent, const absl::Status& status)
      ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    ++errors_;
    const bool told = absl::StrContains(status.message(), "is lost");
    if (told) ++told_;
    const bool first = !first_error_.has_value();
    if (first) {
      first_error_ = clock_.Now();
      message_ = status.ToString();
    }
    if (!absl::IsUnavailable(status) && sent < *first_error_) {
      Blame(status.ToString());
    }
    if (!told && (first || sent < *first_error_ - kOnItsWay)) {
      Blame(absl::StrCat("not the server's answer: ", status.ToString()));
    }
    return first;
  }
  void Wrong(absl::string_view what) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    Blame(what);
  }
  // Whether the callers have nothing more to ask.
  bool Ended() const ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return ended_;
  }
  // Until so many calls have failed; those that still serve then are wrong.
  void AwaitErrors(int count) ABSL_LOCKS_EXCLUDED(mu_) {
    const auto enough = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return errors_ >= count;
    };
    absl::MutexLock lock(&mu_);
    if (!clock_.Await(mu_, absl::Condition(&enough),
                      clock_.Now() + kPatience)) {
      Blame("the server serves on");
    }
    ended_ = true;
  }
  // Until so many calls have been answered OK.
  void AwaitOk(int count) ABSL_LOCKS_EXCLUDED(mu_) {
    const auto enough = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return ok_ >= count || errors_ > 0;
    };
    absl::MutexLock lock(&mu_, absl::Condition(&enough));
  }

  // Empty: all is as it must be.
  std::string Judge() ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    if (first_error_.has_value()) Print("first_error", *first_error_);
    std::printf("calls_ok %d\ncalls_failed %d\ncalls_told %d\n", ok_, errors_,
                told_);
    std::cerr << "the first error: " << message_ << "\n";
    return wrong_;
  }

 private:
  void Blame(absl::string_view what) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (wrong_.empty()) wrong_ = std::string(what);
  }

  Clock& clock_;
  mutable absl::Mutex mu_;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  int ok_ ABSL_GUARDED_BY(mu_) = 0;
  int errors_ ABSL_GUARDED_BY(mu_) = 0;
  int told_ ABSL_GUARDED_BY(mu_) = 0;  // errors that name the lost device
  std::optional<absl::Time> first_error_ ABSL_GUARDED_BY(mu_);
  std::string message_ ABSL_GUARDED_BY(mu_);
  std::string wrong_ ABSL_GUARDED_BY(mu_);
};

// Reads the stream of readiness that an orchestrator would.
class ReadinessWatch {
 public:
  ReadinessWatch(Client& client, Clock& clock)
      : clock_(clock), stub_(Health::NewStub(client.channel())) {}

  // Until it serves.
  absl::Status Start() {
    HealthCheckRequest request;
    request.set_service("readiness");
    rpc_.set_deadline(
        absl::ToChronoTime(clock_.ToWall(clock_.Now() + 2 * kPatience)));
    stream_ = stub_->Watch(&rpc_, request);
    HealthCheckResponse response;
    if (!stream_->Read(&response) ||
        response.status() != HealthCheckResponse::SERVING) {
      return absl::FailedPreconditionError("the server is not ready");
    }
    thread_ = Thread("readiness", [this] { Run(); });
    return absl::OkStatus();
  }

  // When it said otherwise, or ended.
  absl::Time AwaitEnd() {
    thread_.Join();
    return *ended_;
  }

 private:
  void Run() {
    HealthCheckResponse response;
    response.set_status(HealthCheckResponse::SERVING);
    while (response.status() == HealthCheckResponse::SERVING &&
           stream_->Read(&response)) {
    }
    ended_ = clock_.Now();
    rpc_.TryCancel();
    stream_->Finish();
  }

  Clock& clock_;
  const std::unique_ptr<Health::Stub> stub_;
  grpc::ClientContext rpc_;
  std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> stream_;
  std::optional<absl::Time> ended_;
  Thread thread_;
};

// The first caller to see an error asks for readiness at once.
void Fail(absl::Time sent, const absl::Status& status, Client& client,
          Record& record) {
  if (!record.Error(sent, status)) return;
  const auto ready = client.ServerReady();
  if (ready.ok() && *ready) record.Wrong("ready after the first error");
}

struct Caller {
  std::unique_ptr<Client> client;
  InferCall call;
  std::optional<float> answer;  // the first element of what OK brings
};

void CallUntilError(const Caller& caller, Clock& clock, Record& record) {
  while (!record.Ended()) {
    const absl::Time sent = clock.Now();
    const auto result = caller.client->Infer(caller.call);
    if (!result.ok()) {
      return Fail(sent, result.status(), *caller.client, record);
    }
    float value = 0;
    std::memcpy(&value, result->outputs[0].bytes.data(), sizeof(value));
    if (caller.answer.has_value() && value != *caller.answer) {
      record.Wrong(absl::StrCat("OK with ", value, " for ", *caller.answer));
    }
    record.Ok(sent);
  }
}

// Connected: a call that has to connect may fail for reasons of its own.
absl::StatusOr<std::unique_ptr<Client>> Connect(const std::string& target,
                                                const Clock& clock) {
  client::ClientOptions options;
  options.channel.target = target;
  options.timeout = kPatience;
  options.retry.max_attempts = 1;
  auto client = Client::Create(options);
  if (client.ok() && !(*client)->channel()->WaitForConnected(absl::ToChronoTime(
                         clock.ToWall(clock.Now() + kPatience)))) {
    return absl::UnavailableError(absl::StrCat("no connection to ", target));
  }
  return client;
}

struct Input {
  std::string name;
  int64_t width = 0;
};

absl::StatusOr<Input> InputOf(const std::string& model, Client& client) {
  const auto metadata = client.ModelMetadata(model);
  if (!metadata.ok()) return metadata.status();
  return Input{metadata->inputs(0).name(), metadata->inputs(0).shape(1)};
}

// Each with a connection of its own.
absl::StatusOr<std::vector<Caller>> MakeCallers(const std::string& target,
                                                const std::string& faulty,
                                                const std::string& healthy,
                                                Client& client,
                                                const Clock& clock) {
  std::vector<Caller> callers;
  for (const bool doubles : {true, false}) {
    const std::string& model = doubles ? faulty : healthy;
    const auto input = InputOf(model, client);
    if (!input.ok()) return input.status();
    for (int i = 0; i < kCallers; ++i) {
      auto own = Connect(target, clock);
      if (!own.ok()) return own.status();
      callers.push_back({*std::move(own),
                         MakeCall(model, input->name, input->width, 3),
                         doubles ? std::optional<float>(6) : std::nullopt});
    }
  }
  return callers;
}

absl::Status Try(const std::vector<std::string>& args, float trigger) {
  Clock& clock = RealClock::Get();
  auto client = Connect(args[0], clock);
  if (!client.ok()) return client.status();
  const auto input = InputOf(args[1], **client);
  if (!input.ok()) return input.status();
  const auto callers = MakeCallers(args[0], args[1], args[2], **client, clock);
  if (!callers.ok()) return callers.status();
  ReadinessWatch readiness(**client, clock);
  absl::Status started = readiness.Start();
  if (!started.ok()) return started;

  Record record(clock);
  std::vector<Thread> threads;
  for (const Caller& caller : *callers) {
    threads.emplace_back("caller",
                         [&] { CallUntilError(caller, clock, record); });
  }
  record.AwaitOk(kCallsBefore * static_cast<int>(callers->size()));
  const absl::Time sent = clock.Now();
  Print("sent", sent);
  const auto result =
      (*client)->Infer(MakeCall(args[1], input->name, input->width, trigger));
  if (result.ok()) {
    record.Wrong("the request that loses the GPU was answered OK");
  } else {
    Fail(sent, result.status(), **client, record);
  }
  record.AwaitErrors(1 + static_cast<int>(callers->size()));
  for (Thread& thread : threads) thread.Join();
  Print("not_serving", readiness.AwaitEnd());
  const std::string fault = record.Judge();
  return fault.empty() ? absl::OkStatus() : absl::InternalError(fault);
}

int Main(const std::vector<std::string>& args) {
  float trigger = 0;
  if (args.size() != 4 || !absl::SimpleAtof(args[3], &trigger)) {
    std::cerr << "usage: fault_client TARGET FAULTY HEALTHY TRIGGER\n";
    return 2;
  }
  const absl::Status status = Try(args, trigger);
  if (status.ok()) return 0;
  std::cerr << "FAILED: " << status.ToString() << "\n";
  return 1;
}

}  // namespace
}  // namespace reprise::gpu_test

int main(int argc, char** argv) {
  return reprise::gpu_test::Main({argv + 1, argv + argc});
}
