// A device that is lost, or that does not end what it runs.
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/device/fault.h"
#include "runtime/worker/worker_impl.h"

namespace reprise {
namespace {

// A loader's step that takes longer will not end: the longest ones, which
// compile code for a GPU that is newer than the program, take some seconds.
constexpr absl::Duration kStuckStep = absl::Seconds(30);

}  // namespace

// Answers the tasks of batches that run, or that wait for their turn to be
// answered; what the device still does is for nobody.
void WorkerImpl::AbandonRuns(const absl::Status& status, EndedTasks& ended) {
  const auto abandon = [&](BatchRun* run) {
    for (BatchRun::Member& member : run->members) {
      if (!std::exchange(member.live, false)) continue;
      End(member.waiting, status, ended);
    }
  };
  for (const Lane& lane : lanes_) {
    for (BatchRun* run : lane.running) abandon(run);
  }
  for (const auto& [uid, served] : models_) {
    for (BatchRun* run : served->order) {
      if (run->state == BatchState::kDone) abandon(run);
    }
  }
}

void WorkerImpl::Lose(const absl::Status& why) {
  if (losing_.exchange(true)) return;
  if (device_metrics_.has_value()) {
    IsDeviceFault(why) ? device_metrics_->Faulted() : device_metrics_->Hung();
  }
  if (options_.on_lost) options_.on_lost(why);
  EndedTasks ended;
  WakeUp wake = WakeUp::kNone;
  {
    absl::MutexLock lock(&mu_);
    lost_ = AsDeviceFault(absl::UnavailableError(absl::StrCat(
        "device ", metrics_.device(), " is lost: ", why.message())));
    for (const auto& [uid, served] : models_) Withdraw(*served, lost_, ended);
    AbandonRuns(lost_, ended);
    wake = Notify();
  }
  Wake(wake);
  const int64_t answered = Answer(ended);
  absl::MutexLock lock(&mu_);
  accepted_ -= answered;
}

void WorkerImpl::CheckWatchdog() {
  if (options_.watchdog == absl::InfiniteDuration()) return;
  if (!device_->is_lost_when_stuck()) return;
  const std::optional<absl::Time> step =
      steps_ != nullptr ? steps_->running_since() : std::nullopt;
  if (load().stuck) {
    Lose(absl::DeadlineExceededError(
        absl::StrCat("a run did not end within the watchdog's time, ",
                     absl::FormatDuration(options_.watchdog))));
  } else if (step.has_value() &&
             clock_.Now() - *step > std::max(options_.watchdog, kStuckStep)) {
    Lose(absl::DeadlineExceededError(
        absl::StrCat("a step of loading a model did not end within ",
                     absl::FormatDuration(kStuckStep))));
  }
}

}  // namespace reprise
