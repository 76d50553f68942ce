// Two promises that are times of a worker, measured in this process:
//
// * batch formation: how long after its arrival plus the delay D the rows of a
//   lone request are in the slot (goal: p50 at most 50 us);
// * expiry: how long after its limit a request is answered that waits while a
//   batch of 500 ms runs (goal: p99 at most 2 ms).
//
//   worker_latency [REQUESTS]
//
// Exits 1 if a request ended otherwise than it had to; times decide nothing.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "prometheus/registry.h"
#include "runtime/base/clock.h"
#include "runtime/batch/infer_task.h"
#include "runtime/model/model_config.h"
#include "runtime/model/model_version.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/signature.h"
#include "runtime/worker/device_worker.h"
#include "tests/testing/fake_device.h"

namespace reprise::bench {
namespace {

constexpr uint64_t kUid = 1;
constexpr int kMaxBatch = 8;

// Rows of four bytes, answered once.
class Request final : public InferTask {
 public:
  explicit Request(int row_count = 1) {
    rows = row_count;
    InputRows input;
    input.pieces.push_back(
        std::span(data_).first(4 * static_cast<size_t>(rows)));
    input.bytes = 4 * rows;
    bytes = input.bytes;
    inputs.push_back(input);
  }

  void Complete(TaskResult result) override ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    answered_ = RealClock::Get().Now();
    status_ = result.status;
    times_ = result.times;
    done_ = true;
  }

  void Await() ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    mu_.Await(absl::Condition(&done_));
  }
  bool done() const ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return done_;
  }

  // Once it is done.
  absl::Status status() const ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return status_;
  }
  StageTimes times() const ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return times_;
  }
  absl::Time answered() const ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return answered_;
  }

 private:
  const std::array<std::byte, 4 * kMaxBatch> data_{};
  mutable absl::Mutex mu_;
  bool done_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
  StageTimes times_ ABSL_GUARDED_BY(mu_);
  absl::Time answered_ ABSL_GUARDED_BY(mu_);
};

// A worker that serves one model of one INT32 a row.
class Served {
 public:
  Served(absl::Duration run_time, absl::Duration max_delay)
      : fake_(RealClock::Get(), Options(run_time)),
        model_(kUid, "bench", 1, Config(max_delay), OneInt()) {
    auto worker =
        DeviceWorker::Create(fake_.factory(), {}, RealClock::Get(), registry_);
    if (!worker.ok()) {
      std::fprintf(stderr, "%s\n", worker.status().ToString().c_str());
      std::exit(1);
    }
    worker_ = *std::move(worker);
    ServedModel served;
    served.model = &model_;
    served.loaded = fake_.Load(OneInt());
    ServedModel::Variant variant;
    variant.lanes.push_back(
        served.loaded->Prepare({}, model_.config().ladder, 0).value());
    served.variants.push_back(std::move(variant));
    worker_->Add(std::move(served));
  }
  ~Served() {
    fake_.FinishAll();
    worker_->Remove(kUid);
    worker_->Stop(RealClock::Get().Now() + absl::Seconds(10));
  }

  // `timeout` zero: none.
  absl::Status Offer(Request& request, absl::Duration timeout) {
    request.arrival = RealClock::Get().Now();
    if (timeout > absl::ZeroDuration()) {
      request.timeout_us = absl::ToInt64Microseconds(timeout);
      request.queue_limit = request.arrival + timeout;
    }
    return worker_->Offer(kUid, request);
  }

 private:
  static testing::FakeDeviceOptions Options(absl::Duration run_time) {
    testing::FakeDeviceOptions options;
    options.run = testing::FakeRun::kTimed;
    options.rung_time = [run_time](int) { return run_time; };
    return options;
  }
  static Signature OneInt() {
    Signature signature;
    signature.batched = true;
    signature.max_batch = kMaxBatch;
    signature.inputs = {{"INPUT0", DType::kInt32, {1}, {""}}};
    signature.outputs = {{"OUTPUT0", DType::kInt32, {1}, {""}}};
    return signature;
  }
  static ModelConfig Config(absl::Duration max_delay) {
    ModelConfig config;
    config.batch.dynamic_batching = true;
    config.batch.max_queue_delay = max_delay;
    config.ladder = {1, kMaxBatch};
    return config;
  }

  testing::FakeDevice fake_;
  prometheus::Registry registry_;
  const ModelVersion model_;
  std::unique_ptr<DeviceWorker> worker_;
};

void Print(const char* name, std::vector<absl::Duration> times) {
  std::sort(times.begin(), times.end());
  const auto at = [&times](double q) {
    const auto last = static_cast<double>(times.size() - 1);
    return absl::ToDoubleMicroseconds(times[static_cast<size_t>(q * last)]);
  };
  std::printf("%-40s p50 %8.1f us   p99 %8.1f us   max %8.1f us   (%zu)\n",
              name, at(0.5), at(0.99), at(1), times.size());
}

// Whether every request was answered OK.
bool MeasureFormation(absl::Duration delay, int count) {
  Served served(absl::Microseconds(1), delay);
  std::vector<absl::Duration> late;
  for (int i = 0; i < count; ++i) {
    Request request;
    absl::Status status = served.Offer(request, absl::ZeroDuration());
    if (status.ok()) {
      request.Await();
      status = request.status();
    }
    if (!status.ok()) {
      std::fprintf(stderr, "%s\n", status.ToString().c_str());
      return false;
    }
    late.push_back(request.times().gathered - request.arrival - delay);
  }
  const std::string name =
      "formation, over a delay of " + absl::FormatDuration(delay);
  Print(name.c_str(), std::move(late));
  return true;
}

// Ten requests at a time wait for 1 to 50 ms each, behind a batch that runs and
// one that waits; both are full, so that nobody joins them. Whether all of them
// expired.
bool MeasureExpiry(int count) {
  Served served(absl::Milliseconds(500), absl::ZeroDuration());
  std::mt19937 random(1);
  std::uniform_int_distribution<int> timeout_us(1'000, 50'000);
  std::vector<absl::Duration> late;
  std::vector<std::unique_ptr<Request>> fillers;  // keep the device busy
  while (static_cast<int>(late.size()) < count) {
    while (fillers.size() < 2 || fillers[fillers.size() - 2]->done()) {
      fillers.push_back(std::make_unique<Request>(kMaxBatch));
      if (!served.Offer(*fillers.back(), absl::ZeroDuration()).ok())
        return false;
    }
    std::vector<std::unique_ptr<Request>> requests(10);
    for (auto& request : requests) {
      request = std::make_unique<Request>();
      if (!served.Offer(*request, absl::Microseconds(timeout_us(random)))
               .ok()) {
        return false;
      }
    }
    for (auto& request : requests) {
      request->Await();
      if (!absl::IsDeadlineExceeded(request->status())) {
        std::fprintf(stderr, "not expired: %s\n",
                     request->status().ToString().c_str());
        return false;
      }
      late.push_back(request->answered() - request->queue_limit);
    }
  }
  for (auto& filler : fillers) filler->Await();
  Print("expiry, over the request's timeout", std::move(late));
  return true;
}

}  // namespace
}  // namespace reprise::bench

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const int count = argc > 1 ? std::atoi(argv[1]) : 1000;
  const bool ok =
      reprise::bench::MeasureFormation(absl::ZeroDuration(), count) &&
      reprise::bench::MeasureFormation(absl::Milliseconds(1), count) &&
      reprise::bench::MeasureFormation(absl::Milliseconds(5), count) &&
      reprise::bench::MeasureExpiry(count);
  return ok ? 0 : 1;
}
