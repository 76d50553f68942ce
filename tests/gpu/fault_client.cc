// Sends a server a request that loses its GPU, among others, and tells what
// callers see of it.
//
//   fault_client TARGET FAULTY HEALTHY TRIGGER
//
// FAULTY doubles FP32 [n,4] (kFaultyKernel), HEALTHY is any model of one FP32
// input [n,m]. Prints a line "NAME SECONDS" for each thing that happened, as
// time of day. Status 1: something is not as it must be, and says what.
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
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "runtime/base/clock.h"
#include "runtime/base/thread.h"

namespace reprise::gpu_test {
namespace {

using client::Client;
using client::InferCall;

constexpr int kCallers = 4;  // of each model
constexpr int kCallsBefore = 50;
constexpr absl::Duration kPatience = absl::Seconds(20);

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

// What became of the calls of all callers.
class Record {
 public:
  explicit Record(Clock& clock) : clock_(clock) {}

  void Ok(absl::Time sent) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    ++ok_;
    if (first_error_.has_value() && sent > *first_error_) ++ok_after_;
  }
  // Whether it is the first.
  bool Error(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    ++errors_;
    if (!absl::IsUnavailable(status)) wrong_ = status.ToString();
    if (first_error_.has_value()) return false;
    first_error_ = clock_.Now();
    message_ = status.ToString();
    return true;
  }
  void Wrong(std::string what) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    wrong_ = std::move(what);
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
    std::printf("first_error %.6f\n", absl::ToUnixMicros(*first_error_) * 1e-6);
    std::printf("calls_ok %d\ncalls_unavailable %d\n", ok_, errors_);
    std::cerr << "the first error: " << message_ << "\n";
    if (!wrong_.empty()) return wrong_;
    if (ok_after_ > 0) {
      return absl::StrCat(ok_after_,
                          " calls that began after the first error "
                          "were answered OK");
    }
    return "";
  }

 private:
  Clock& clock_;
  absl::Mutex mu_;
  int ok_ ABSL_GUARDED_BY(mu_) = 0;
  int ok_after_ ABSL_GUARDED_BY(mu_) = 0;
  int errors_ ABSL_GUARDED_BY(mu_) = 0;
  std::optional<absl::Time> first_error_ ABSL_GUARDED_BY(mu_);
  std::string message_ ABSL_GUARDED_BY(mu_);
  std::string wrong_ ABSL_GUARDED_BY(mu_);
};

// Asks until there is an error; the first of all asks for readiness at once.
void CallUntilError(const InferCall& call, std::optional<float> answer,
                    Client& client, Clock& clock, Record& record) {
  for (;;) {
    const absl::Time sent = clock.Now();
    const auto result = client.Infer(call);
    if (result.ok()) {
      float value = 0;
      std::memcpy(&value, result->outputs[0].bytes.data(), sizeof(value));
      if (answer.has_value() && value != *answer) {
        record.Wrong(absl::StrCat("OK with ", value, " for ", *answer));
      }
      record.Ok(sent);
      continue;
    }
    if (record.Error(result.status())) {
      const auto ready = client.ServerReady();
      if (ready.ok() && *ready) record.Wrong("ready after the first error");
    }
    return;
  }
}

absl::StatusOr<std::unique_ptr<Client>> Connect(const std::string& target) {
  client::ClientOptions options;
  options.channel.target = target;
  options.timeout = kPatience;
  options.retry.max_attempts = 1;
  return Client::Create(options);
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

absl::Status Try(const std::vector<std::string>& args, float trigger) {
  Clock& clock = RealClock::Get();
  const std::string& target = args[0];
  auto client = Connect(target);
  if (!client.ok()) return client.status();
  const auto faulty = InputOf(args[1], **client);
  if (!faulty.ok()) return faulty.status();
  const auto healthy = InputOf(args[2], **client);
  if (!healthy.ok()) return healthy.status();

  Record record(clock);
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<Thread> callers;
  for (int i = 0; i < 2 * kCallers; ++i) {
    auto own = Connect(target);
    if (!own.ok()) return own.status();
    clients.push_back(*std::move(own));
    const bool doubles = i % 2 == 0;
    const InferCall call =
        doubles ? MakeCall(args[1], faulty->name, faulty->width, 3)
                : MakeCall(args[2], healthy->name, healthy->width, 1);
    const std::optional<float> answer =
        doubles ? std::optional<float>(6) : std::nullopt;
    callers.emplace_back("caller",
                         [=, &clock, &record, one = clients.back().get()] {
                           CallUntilError(call, answer, *one, clock, record);
                         });
  }
  record.AwaitOk(2 * kCallers * kCallsBefore);
  std::printf("sent %.6f\n", absl::ToUnixMicros(clock.Now()) * 1e-6);
  const auto result =
      (*client)->Infer(MakeCall(args[1], faulty->name, faulty->width, trigger));
  if (result.ok()) return absl::InternalError("the request was answered OK");
  const absl::Status last = result.status();
  if (record.Error(last)) {
    const auto ready = (*client)->ServerReady();
    if (ready.ok() && *ready) record.Wrong("ready after the first error");
  }
  for (Thread& caller : callers) caller.Join();
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
