// Many callers, tagged rows, cancels, timeouts and reloads at once: every row
// answered is its caller's, every request is answered once, and none that
// expired or was cancelled reaches the device.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/clock.h"
#include "runtime/base/thread.h"
#include "runtime/worker/device_worker.h"
#include "tests/testing/fake_device.h"
#include "tests/testing/gate.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/worker_testing.h"

namespace reprise {
namespace {

using ::reprise::testing::FakeDevice;
using ::reprise::testing::FakeLaunch;
using ::reprise::testing::FakeRun;
using ::reprise::testing::Gate;
using ::reprise::testing::IsOk;
using ::reprise::testing::TestConfig;
using ::reprise::testing::TestModel;
using ::reprise::testing::TestSignature;

constexpr int kThreads = 4;
constexpr int kCallersPerThread = 16;
constexpr int kMaxRows = 32;
constexpr int64_t kRowsPerId = kMaxRows;  // a row's tag is id * this + row
constexpr int kOneIn = 10;  // is cancelled; and as many have a timeout

// What is known of each request, by id.
enum Fate : uint8_t { kPending, kReachedDevice, kLeftUnrun };

struct Version {
  explicit Version(uint64_t number)
      : uid(number),
        model(number, TestConfig({1, 2, 4, 8, 16, kMaxRows}),
              TestSignature(kMaxRows)) {}
  const uint64_t uid;
  TestModel model;
  Gate gate;  // its requests that are not answered
};

// The version that new requests go to.
class Current {
 public:
  std::shared_ptr<Version> Get() {
    absl::MutexLock lock(&mu_);
    return version_;
  }
  std::shared_ptr<Version> Set(std::shared_ptr<Version> version) {
    absl::MutexLock lock(&mu_);
    std::swap(version_, version);
    return version;
  }

 private:
  absl::Mutex mu_;
  std::shared_ptr<Version> version_ ABSL_GUARDED_BY(mu_);
};

struct Counters {
  std::atomic<int> ok{0};
  std::atomic<int> expired{0};
  std::atomic<int> cancelled{0};
  std::atomic<int> refused{0};
  std::atomic<int> cancels{0};  // of those that waited or ran
  std::atomic<int> other{0};
  std::atomic<int> wrong_rows{0};
  std::atomic<int> unrun_on_device{0};
  std::atomic<int> bad_padding{0};
  std::atomic<int> twice{0};
};

class Caller final : public InferTask {
 public:
  Caller(absl::Mutex& mu, Counters& counters,
         std::vector<std::atomic<uint8_t>>& fates)
      : mu_(mu), counters_(counters), fates_(fates) {}

  void Prepare(int64_t id, int count) {
    id_ = id;
    rows = count;
    data_.clear();
    for (int row = 0; row < count; ++row) {
      data_.push_back(id * kRowsPerId + row);
    }
    inputs.resize(1);
    inputs[0].pieces.assign(1, std::as_bytes(std::span(data_)));
    inputs[0].bytes = static_cast<int64_t>(data_.size() * sizeof(int64_t));
    bytes = inputs[0].bytes;
    queue_limit = absl::InfiniteFuture();
    timeout_us = 0;
    cancel_asked = false;
    arrival = RealClock::Get().Now();
  }

  void Complete(TaskResult result) override {
    Check(result);
    std::shared_ptr<Version> pinned = std::move(version);
    BatchOutput kept;
    if (result.output && result.output.may_hold_slot()) {
      kept = std::move(result.output);
    }
    {
      absl::MutexLock lock(&mu_);
      if (!busy) ++counters_.twice;
      if (cancel_asked) ++counters_.cancels;
      output = std::move(kept);
      busy = false;
    }
    pinned->gate.Leave();
  }

  // Guarded by the thread's mutex.
  bool busy = false;
  bool cancel_asked = false;
  uint64_t uid = 0;  // of `version`
  BatchOutput output;

  std::shared_ptr<Version> version;  // while it is not answered

 private:
  void Check(const TaskResult& result) {
    std::atomic<uint8_t>& fate = fates_[static_cast<size_t>(id_)];
    if (result.status.ok()) {
      ++counters_.ok;
      const std::span<const std::byte> got = result.output.bytes(0);
      if (got.size() != data_.size() * sizeof(int64_t) ||
          std::memcmp(got.data(), data_.data(), got.size()) != 0) {
        ++counters_.wrong_rows;
      }
      return;
    }
    if (absl::IsDeadlineExceeded(result.status)) {
      ++counters_.expired;
    } else if (absl::IsCancelled(result.status)) {
      ++counters_.cancelled;
    } else {
      ++counters_.other;
    }
    if (fate.exchange(kLeftUnrun) == kReachedDevice) {
      ++counters_.unrun_on_device;
    }
  }

  absl::Mutex& mu_;
  Counters& counters_;
  std::vector<std::atomic<uint8_t>>& fates_;
  std::vector<int64_t> data_;
  int64_t id_ = 0;
};

class CallingThread {
 public:
  CallingThread(DeviceWorker& worker, Current& current, Counters& counters,
                std::vector<std::atomic<uint8_t>>& fates, int index,
                int requests)
      : worker_(worker),
        current_(current),
        counters_(counters),
        requests_(requests),
        next_id_(int64_t{index} * requests),
        random_(static_cast<uint64_t>(index) + 7) {
    for (int i = 0; i < kCallersPerThread; ++i) {
      callers_.push_back(std::make_unique<Caller>(mu_, counters, fates));
    }
  }

  void Run() {
    for (int sent = 0; sent < requests_; ++sent) {
      Caller& caller = AwaitFree();
      const uint64_t uid = Pin(caller);
      caller.Prepare(next_id_++, static_cast<int>(Below(kMaxRows)) + 1);
      if (Below(kOneIn) == 0) {
        const absl::Duration timeout =
            absl::Microseconds(50 + static_cast<int64_t>(Below(4951)));
        caller.timeout_us = absl::ToInt64Microseconds(timeout);
        caller.queue_limit = caller.arrival + timeout;
      }
      {
        absl::MutexLock lock(&mu_);
        caller.busy = true;
        caller.uid = uid;
      }
      Send(caller, uid);
      cancels_due_ += Below(kOneIn) == 0;
      while (cancels_due_ > 0 && CancelOne()) --cancels_due_;
    }
    absl::MutexLock lock(&mu_, absl::Condition(this, &CallingThread::AllFree));
  }

  void DropOutputs() {
    for (const std::unique_ptr<Caller>& caller : callers_) {
      caller->output.Reset();
    }
  }

 private:
  uint64_t Below(uint64_t bound) { return random_() % bound; }

  uint64_t Pin(Caller& caller) {
    while (true) {
      caller.version = current_.Get();
      if (caller.version->gate.Enter()) return caller.version->uid;
    }
  }

  void Send(Caller& caller, uint64_t uid) {
    const std::shared_ptr<Version> version = caller.version;
    const absl::Status status = worker_.Offer(uid, caller);
    if (!status.ok()) {  // still ours
      ++(absl::IsResourceExhausted(status) || absl::IsDeadlineExceeded(status)
             ? counters_.refused
             : counters_.other);
      caller.version.reset();
      version->gate.Leave();
      absl::MutexLock lock(&mu_);
      caller.busy = false;
      return;
    }
  }

  // One that waits or runs, at random; whether there was one.
  bool CancelOne() {
    Caller* chosen = nullptr;
    uint64_t uid = 0;
    {
      absl::MutexLock lock(&mu_);
      const size_t from = Below(callers_.size());
      for (size_t i = 0; i < callers_.size() && chosen == nullptr; ++i) {
        Caller& caller = *callers_[(from + i) % callers_.size()];
        if (caller.busy && !caller.cancel_asked) chosen = &caller;
      }
      if (chosen == nullptr) return false;
      chosen->cancel_asked = true;
      uid = chosen->uid;
    }
    worker_.Cancel(uid, *chosen);
    return true;
  }

  // A caller that has its answer; its output is dropped only now, as that of a
  // reply that was being sent.
  Caller& AwaitFree() {
    BatchOutput dropped;
    absl::MutexLock lock(&mu_, absl::Condition(this, &CallingThread::AnyFree));
    for (size_t i = 0; i < callers_.size(); ++i) {
      last_ = (last_ + 1) % callers_.size();
      if (callers_[last_]->busy) continue;
      dropped = std::move(callers_[last_]->output);
      break;
    }
    return *callers_[last_];
  }

  bool AnyFree() const ABSL_NO_THREAD_SAFETY_ANALYSIS {
    for (const std::unique_ptr<Caller>& caller : callers_) {
      if (!caller->busy) return true;
    }
    return false;
  }
  bool AllFree() const ABSL_NO_THREAD_SAFETY_ANALYSIS {
    for (const std::unique_ptr<Caller>& caller : callers_) {
      if (caller->busy) return false;
    }
    return true;
  }

  DeviceWorker& worker_;
  Current& current_;
  Counters& counters_;
  const int requests_;
  int64_t next_id_;
  std::mt19937_64 random_;
  int cancels_due_ = 0;
  absl::Mutex mu_;
  std::vector<std::unique_ptr<Caller>> callers_;
  size_t last_ = 0;
};

void CheckLaunch(const FakeLaunch& launch, Counters& counters,
                 std::vector<std::atomic<uint8_t>>& fates) {
  for (size_t row = 0; row < launch.tags.size(); ++row) {
    const uint64_t id = launch.tags[row] / kRowsPerId;
    if (row >= static_cast<size_t>(launch.rows)) {
      if (launch.tags[row] != launch.tags[0]) ++counters.bad_padding;
      continue;
    }
    if (fates[id].exchange(kReachedDevice) == kLeftUnrun) {
      ++counters.unrun_on_device;
    }
  }
}

// Swaps the version that is served, every `period`, until told to stop.
class Reloader {
 public:
  Reloader(DeviceWorker& worker, FakeDevice& fake, Current& current,
           absl::Duration period)
      : worker_(worker), fake_(fake), current_(current), period_(period) {
    auto first = std::make_shared<Version>(1);
    worker_.Add(first->model.Make(fake_));
    current_.Set(std::move(first));
    thread_ = Thread("reloader", [this] { Run(); });
  }

  // Returns how often it has reloaded.
  int Stop() {
    {
      absl::MutexLock lock(&mu_);
      finished_ = true;
    }
    thread_.Join();
    return reloads_;
  }

 private:
  void Run() {
    RealClock& clock = RealClock::Get();
    while (true) {
      {
        absl::MutexLock lock(&mu_);
        if (clock.Await(mu_, absl::Condition(&finished_),
                        clock.Now() + period_)) {
          return;
        }
      }
      auto next =
          std::make_shared<Version>(static_cast<uint64_t>(reloads_) + 2);
      worker_.Add(next->model.Make(fake_));
      const std::shared_ptr<Version> old = current_.Set(std::move(next));
      old->gate.Close();
      old->gate.Drain(clock, absl::InfiniteFuture());
      worker_.Remove(old->uid);
      ++reloads_;
    }
  }

  DeviceWorker& worker_;
  FakeDevice& fake_;
  Current& current_;
  const absl::Duration period_;
  int reloads_ = 0;
  absl::Mutex mu_;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  Thread thread_;
};

void ExpectNothingIsLeft(const FakeDevice& fake) {
  EXPECT_EQ(fake.slots_out(), 0);
  EXPECT_EQ(fake.live_executables(), 0);
  EXPECT_EQ(fake.live_models(), 0);
  EXPECT_EQ(fake.wrong_thread_calls(), 0);
}

void ExpectEachOnce(const Counters& counters, int requests) {
  EXPECT_EQ(counters.wrong_rows, 0);
  EXPECT_EQ(counters.unrun_on_device, 0);
  EXPECT_EQ(counters.bad_padding, 0);
  EXPECT_EQ(counters.twice, 0);
  EXPECT_EQ(counters.other, 0);
  EXPECT_EQ(
      counters.ok + counters.expired + counters.cancelled + counters.refused,
      requests);
  EXPECT_GT(counters.expired, 0);
  EXPECT_GT(counters.cancelled, 0);
  EXPECT_GT(counters.cancels, requests / kOneIn * 9 / 10);
}

void CallAndReload(int requests_per_thread, absl::Duration reload_period) {
  const int requests = kThreads * requests_per_thread;
  std::vector<std::atomic<uint8_t>> fates(static_cast<size_t>(requests));
  Counters counters;
  FakeDevice fake(
      RealClock::Get(),
      {.run = FakeRun::kTimed, .slots = 6, .rung_time = [](int rows) {
         return absl::Microseconds(20 + 2 * rows);
       }});
  fake.OnLaunch(
      [&](const FakeLaunch& launch) { CheckLaunch(launch, counters, fates); });
  prometheus::Registry registry;
  auto worker =
      DeviceWorker::Create(fake.factory(), {}, RealClock::Get(), registry);
  ASSERT_THAT(worker, IsOk());
  Current current;
  Reloader reloader(**worker, fake, current, reload_period);
  std::vector<std::unique_ptr<CallingThread>> callers;
  for (int i = 0; i < kThreads; ++i) {
    callers.push_back(std::make_unique<CallingThread>(
        **worker, current, counters, fates, i, requests_per_thread));
  }
  {
    std::vector<Thread> threads;
    for (const auto& caller : callers) {
      threads.emplace_back("caller", [&caller] { caller->Run(); });
    }
  }  // joined
  for (const auto& caller : callers) caller->DropOutputs();
  const int reloads = reloader.Stop();
  callers.clear();
  EXPECT_TRUE((*worker)->Stop(absl::InfiniteFuture()));
  worker->reset();

  ExpectEachOnce(counters, requests);
  ExpectNothingIsLeft(fake);
  EXPECT_GT(reloads, 0);
  std::printf(
      "%d requests: %d answered, %d expired, %d cancelled, %d refused; "
      "%d cancels, %d reloads\n",
      requests, counters.ok.load(), counters.expired.load(),
      counters.cancelled.load(), counters.refused.load(),
      counters.cancels.load(), reloads);
}

TEST(TaggedRowsTest, EveryRowIsItsOwnWhileOneReloadFollowsAnother) {
  CallAndReload(4'000, absl::ZeroDuration());
}

TEST(TaggedRowsTest, EveryRowIsItsOwnWithAReloadEverySecond) {
  CallAndReload(25'000, absl::Seconds(1));
}

}  // namespace
}  // namespace reprise
