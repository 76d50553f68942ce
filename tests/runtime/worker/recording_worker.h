// A worker that serves nothing and remembers what it was asked to do.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "runtime/base/clock.h"
#include "runtime/worker/device_worker.h"
#include "tests/testing/fake_device.h"

namespace reprise::testing {

// Threads: any. Offered tasks are answered at once, on the caller's thread.
class RecordingWorker final : public DeviceWorker {
 public:
  // On a device that says of itself that it is this GPU, or none.
  explicit RecordingWorker(std::optional<int> gpu_index = std::nullopt)
      : fake_(RealClock::Get(), {.gpu_index = gpu_index, .load_steps = true}) {}

  Device& device() override { return *device_; }
  FakeDevice& fake() { return fake_; }

  void Add(ServedModel model) override ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    added_.push_back(model.model->uid());
    served_.push_back(std::move(model));
  }
  void Remove(uint64_t uid) override ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    begun_ = true;
    const auto free = [this]()
                          ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return !held_; };
    mu_.Await(absl::Condition(&free));
    std::erase_if(served_, [uid](const ServedModel& served) {
      return served.model->uid() == uid;
    });
    removed_.push_back(uid);
    remover_ = ThisThread();
  }
  absl::Status Offer(uint64_t uid, InferTask& task) override
      ABSL_LOCKS_EXCLUDED(mu_) {
    {
      absl::MutexLock lock(&mu_);
      offered_.push_back(uid);
      warmups_ += task.warmup ? 1 : 0;
      if (!offer_status_.ok()) return offer_status_;
    }
    task.Complete({.status = run_status_, .output = {}, .times = {}});
    return absl::OkStatus();
  }
  void Cancel(uint64_t uid, InferTask& task) override ABSL_LOCKS_EXCLUDED(mu_) {
    (void)task;
    absl::MutexLock lock(&mu_);
    cancelled_.push_back(uid);
  }
  WorkerLoad load() const override ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return load_;
  }
  void CheckWatchdog() override {}
  void Lose(const absl::Status& why) override ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    lost_.push_back(why);
  }
  bool Stop(absl::Time deadline) override {
    (void)deadline;
    return true;
  }

  // The test's side.
  void HoldRemove(bool held) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    held_ = held;
  }
  void AwaitRemoveBegun() ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    mu_.Await(absl::Condition(&begun_));
  }
  void SetLoad(WorkerLoad load) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    load_ = load;
  }
  void FailOffer(absl::Status status) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    offer_status_ = std::move(status);
  }
  void FailRun(absl::Status status) { run_status_ = std::move(status); }

  std::vector<absl::Status> lost() const ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return lost_;
  }
  std::vector<uint64_t> added() const { return Copy(added_); }
  std::vector<uint64_t> removed() const { return Copy(removed_); }
  std::vector<uint64_t> offered() const { return Copy(offered_); }
  // Of those offered.
  int warmups() const ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return warmups_;
  }
  std::vector<uint64_t> cancelled() const { return Copy(cancelled_); }
  bool removed_on_this_thread() const ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return remover_ == ThisThread();
  }

 private:
  static const void* ThisThread() {
    thread_local char place = 0;
    return &place;
  }
  std::vector<uint64_t> Copy(const std::vector<uint64_t>& list) const
      ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return list;
  }

  FakeDevice fake_;
  const std::unique_ptr<Device> device_ = fake_.Make();
  absl::Status run_status_;  // set before the first task

  mutable absl::Mutex mu_;
  std::vector<ServedModel> served_ ABSL_GUARDED_BY(mu_);
  // These four under mu_ too; Copy takes them by reference.
  std::vector<uint64_t> added_;
  std::vector<uint64_t> removed_;
  std::vector<uint64_t> offered_;
  int warmups_ = 0;
  std::vector<uint64_t> cancelled_;
  WorkerLoad load_ ABSL_GUARDED_BY(mu_);
  std::vector<absl::Status> lost_ ABSL_GUARDED_BY(mu_);
  absl::Status offer_status_ ABSL_GUARDED_BY(mu_);
  const void* remover_ ABSL_GUARDED_BY(mu_) = nullptr;
  bool held_ ABSL_GUARDED_BY(mu_) = false;
  bool begun_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace reprise::testing
