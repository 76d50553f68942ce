#include "tests/testing/delayed_device.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "runtime/base/status_macros.h"
#include "runtime/device/device.h"
#include "runtime/device/executable.h"
#include "runtime/graph/graph.h"
#include "runtime/tensor/ladder.h"
#include "runtime/tensor/signature.h"

namespace reprise::testing {
namespace {

// Waits that another thread can end. Threads: any.
class Sleeper {
 public:
  explicit Sleeper(Clock& clock) : clock_(clock) {}

  void Wake() ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    woken_ = true;
  }

  // Whether it was woken; uses up the wake-up.
  bool WaitUntil(absl::Time time) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    clock_.Await(mu_, absl::Condition(&woken_), time);
    return std::exchange(woken_, false);
  }

  Clock& clock() const { return clock_; }

 private:
  Clock& clock_;
  absl::Mutex mu_;
  bool woken_ ABSL_GUARDED_BY(mu_) = false;
};

class DelayedExecutable final : public Executable {
 public:
  DelayedExecutable(std::unique_ptr<Executable> inner, absl::Duration delay,
                    std::shared_ptr<Sleeper> sleeper)
      : inner_(std::move(inner)),
        delay_(delay),
        sleeper_(std::move(sleeper)),
        ladder_(inner_->ladder()) {
    for (Rung& rung : ladder_) {
      rung.p50 += delay_;
      rung.p999 += delay_;
    }
  }

  const Signature& signature() const override { return inner_->signature(); }
  const Ladder& ladder() const override { return ladder_; }
  SlotLease AcquireSlot() override { return inner_->AcquireSlot(); }
  int free_slots() const override { return inner_->free_slots(); }
  int64_t arena_bytes() const override { return inner_->arena_bytes(); }

  absl::Status Submit(Slot& slot, int rows) override {
    REPRISE_RETURN_IF_ERROR(inner_->Submit(slot, rows));
    free_at_ = std::max(free_at_, sleeper_->clock().Now()) + delay_;
    runs_[&slot] = {free_at_, std::nullopt};
    return absl::OkStatus();
  }

  absl::StatusOr<RunTimes> Wait(Slot& slot, absl::Time deadline) override {
    const auto it = runs_.find(&slot);
    if (it == runs_.end()) return inner_->Wait(slot, deadline);
    Run& run = it->second;
    if (!run.times.has_value()) {
      REPRISE_ASSIGN_OR_RETURN(run.times, inner_->Wait(slot, deadline));
    }
    const bool woken = sleeper_->WaitUntil(std::min(run.ends, deadline));
    if (sleeper_->clock().Now() >= run.ends) {
      RunTimes times = *run.times;
      times.graph += delay_;
      runs_.erase(it);
      return times;
    }
    if (woken) return absl::AbortedError("woken");
    return absl::DeadlineExceededError("the run goes on");
  }

 private:
  struct Run {
    absl::Time ends;
    std::optional<RunTimes> times;  // once the inner run is done
  };

  const std::unique_ptr<Executable> inner_;
  const absl::Duration delay_;
  const std::shared_ptr<Sleeper> sleeper_;
  Ladder ladder_;
  absl::Time free_at_ = absl::InfinitePast();
  std::map<Slot*, Run> runs_;
};

class DelayedModel final : public LoadedModel {
 public:
  DelayedModel(std::unique_ptr<LoadedModel> inner, absl::Duration delay,
               std::shared_ptr<Sleeper> sleeper)
      : inner_(std::move(inner)), delay_(delay), sleeper_(std::move(sleeper)) {}

  absl::StatusOr<std::unique_ptr<Executable>> Prepare(
      const VariantKey& dims, const std::vector<int>& ladder,
      int lane) override {
    REPRISE_ASSIGN_OR_RETURN(std::unique_ptr<Executable> inner,
                             inner_->Prepare(dims, ladder, lane));
    return std::make_unique<DelayedExecutable>(std::move(inner), delay_,
                                               sleeper_);
  }
  int64_t weight_bytes() const override { return inner_->weight_bytes(); }

 private:
  const std::unique_ptr<LoadedModel> inner_;
  const absl::Duration delay_;
  const std::shared_ptr<Sleeper> sleeper_;
};

class DelayedDevice final : public Device {
 public:
  DelayedDevice(std::unique_ptr<Device> inner, Delays delays, Clock& clock)
      : inner_(std::move(inner)),
        delays_(std::move(delays)),
        sleeper_(std::make_shared<Sleeper>(clock)) {}

  std::optional<int> gpu_index() const override { return inner_->gpu_index(); }
  DeviceMemory memory() const override { return inner_->memory(); }

  absl::StatusOr<std::unique_ptr<LoadedModel>> Load(
      std::shared_ptr<const graph::Graph> graph, const Signature& signature,
      const LoadOptions& options) override {
    REPRISE_ASSIGN_OR_RETURN(
        std::unique_ptr<LoadedModel> inner,
        inner_->Load(std::move(graph), signature, options));
    const std::string model = options.model.substr(0, options.model.find('/'));
    const auto delay = delays_.find(model);
    if (delay == delays_.end()) return inner;
    return std::make_unique<DelayedModel>(std::move(inner), delay->second,
                                          sleeper_);
  }

  // One of the two waits is going on, or none: the other one's next call
  // returns ABORTED for nothing, which a worker takes for a wake-up.
  void Wake() override {
    inner_->Wake();
    sleeper_->Wake();
  }

 private:
  const std::unique_ptr<Device> inner_;
  const Delays delays_;
  const std::shared_ptr<Sleeper> sleeper_;
};

}  // namespace

std::unique_ptr<Device> DelayDevice(std::unique_ptr<Device> inner,
                                    Delays delays, Clock& clock) {
  return std::make_unique<DelayedDevice>(std::move(inner), std::move(delays),
                                         clock);
}

DeviceFactory DelayFactory(DeviceFactory inner, Delays delays, Clock& clock) {
  return [inner = std::move(inner), delays = std::move(delays),
          &clock]() -> absl::StatusOr<std::unique_ptr<Device>> {
    REPRISE_ASSIGN_OR_RETURN(std::unique_ptr<Device> device, inner());
    return DelayDevice(std::move(device), delays, clock);
  };
}

}  // namespace reprise::testing
