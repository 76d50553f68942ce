#include "runtime/device/load_steps.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/device/device_observer.h"
#include "runtime/device/fault.h"

namespace reprise {
namespace {

thread_local LoadStepRecord* record_of_this_thread = nullptr;

void AddTo(absl::Duration took, LoadStepTimes& times) {
  ++times.count;
  times.total += took;
  times.longest = std::max(times.longest, took);
}

}  // namespace

absl::string_view LoadStepName(LoadStep step) {
  static constexpr std::array<absl::string_view, kLoadSteps> kNames = {
      "upload",     "warm_up",     "replay",      "trial",        "map_memory",
      "pin_memory", "load_module", "instantiate", "upload_graph", "free"};
  return kNames[static_cast<size_t>(step)];
}

absl::Status LoadSteps::Run(LoadStep step,
                            absl::FunctionRef<absl::Status()> work) {
  std::function<void()> changed;
  DeviceObserver* observer = nullptr;
  int64_t mine = 0;
  {
    absl::MutexLock lock(&mu_);
    mine = next_++;
    if (open_) changed = changed_;
  }
  if (changed) changed();
  {
    const auto may_begin = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return done_ == mine && (!open_ || granted_ > mine);
    };
    absl::MutexLock lock(&mu_, absl::Condition(&may_begin));
    granted_ = std::max(granted_, mine + 1);
  }
  const absl::Time begun = clock_.Now();
  {
    absl::MutexLock lock(&mu_);
    begun_ = begun;
  }
  absl::Status status = work();
  const absl::Time end = clock_.Now();
  const absl::Duration took = end - begun;
  {
    absl::MutexLock lock(&mu_);
    ++done_;
    last_ = {.end = end, .took = took};
    begun_.reset();
    if (fault_.ok() && IsDeviceFault(status)) fault_ = status;
    AddTo(took, times_[static_cast<size_t>(step)]);
    if (open_) changed = changed_;
    observer = observer_;
  }
  LoadStepRecord* const record = record_of_this_thread;
  if (record != nullptr && record->steps_ == this) {
    AddTo(took, record->times_[static_cast<size_t>(step)]);
  }
  if (observer != nullptr) observer->Stepped(step, took);
  if (changed) changed();
  return status;
}

void LoadSteps::Count(LoadStep step, absl::Duration took) {
  DeviceObserver* observer = nullptr;
  {
    absl::MutexLock lock(&mu_);
    AddTo(took, times_[static_cast<size_t>(step)]);
    observer = observer_;
  }
  if (observer != nullptr) observer->Stepped(step, took);
}

void LoadSteps::Open(std::function<void()> changed) {
  absl::MutexLock lock(&mu_);
  open_ = true;
  changed_ = std::move(changed);
}

void LoadSteps::Observe(DeviceObserver* observer) {
  absl::MutexLock lock(&mu_);
  observer_ = observer;
}

void LoadSteps::Close() {
  absl::MutexLock lock(&mu_);
  open_ = false;
  changed_ = nullptr;
  observer_ = nullptr;
}

bool LoadSteps::wanted() const {
  absl::MutexLock lock(&mu_);
  return next_ > done_;
}

bool LoadSteps::running() const {
  absl::MutexLock lock(&mu_);
  return granted_ > done_;
}

bool LoadSteps::Grant() {
  absl::MutexLock lock(&mu_);
  if (granted_ == done_ && next_ > granted_) ++granted_;
  return granted_ > done_;
}

LoadSteps::Last LoadSteps::last() const {
  absl::MutexLock lock(&mu_);
  return last_;
}

absl::Status LoadSteps::fault() const {
  absl::MutexLock lock(&mu_);
  return fault_;
}

std::optional<absl::Time> LoadSteps::running_since() const {
  absl::MutexLock lock(&mu_);
  return begun_;
}

LoadStepTimes LoadSteps::times(LoadStep step) const {
  absl::MutexLock lock(&mu_);
  return times_[static_cast<size_t>(step)];
}

LoadStepRecord::LoadStepRecord(const LoadSteps* steps)
    : steps_(steps), before_(std::exchange(record_of_this_thread, this)) {}

LoadStepRecord::~LoadStepRecord() { record_of_this_thread = before_; }

std::string LoadStepRecord::text() const {
  std::vector<std::string> kinds;
  for (int i = 0; i < kLoadSteps; ++i) {
    const auto step = static_cast<LoadStep>(i);
    if (times(step).count == 0) continue;
    kinds.push_back(absl::StrCat(
        LoadStepName(step), "=", times(step).count, " ", LoadStepName(step),
        "_longest_seconds=", absl::ToDoubleSeconds(times(step).longest)));
  }
  return absl::StrJoin(kinds, " ");
}

}  // namespace reprise
