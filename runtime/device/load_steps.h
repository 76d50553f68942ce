// How a loader gets a device to itself for a moment, between two batches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"

namespace reprise {

class DeviceObserver;

// What a step does. Those of the first group are cut to a length; the others
// take as long as the driver takes for them.
enum class LoadStep {
  kUpload,      // a piece of the weights
  kWarmUp,      // one run that was not captured
  kReplay,      // one replay, for the canary or to be timed
  kTrial,       // one candidate of a library's algorithms
  kMapMemory,   // arena or buffers grow
  kPinMemory,   // slots grow
  kLoadModule,  // device code
  kInstantiate,
  kUploadGraph,
  kFree,  // graphs and memory of a variant or a model that is gone
};
inline constexpr int kLoadSteps = static_cast<int>(LoadStep::kFree) + 1;
absl::string_view LoadStepName(LoadStep step);

struct LoadStepTimes {
  int64_t count = 0;
  absl::Duration total;
  absl::Duration longest;
};

// What occupies a GPU, or stops its driver for all, while a model is loaded
// beside those that serve is a step: the worker grants it when nothing runs on
// the device, and launches nothing until it is over. How often it does while
// batches come is its own affair.
//
// An error that IsDeviceFault is kept for the worker to see.
//
// Without a worker (Open has not been called) steps run at once, one after the
// other.
//
// Threads: any. Run is called by loaders; the rest by the worker.
class LoadSteps {
 public:
  // `longest`: what a step that can be cut should take at most.
  explicit LoadSteps(Clock& clock,
                     absl::Duration longest = absl::Milliseconds(5))
      : clock_(clock), longest_(longest) {}

  LoadSteps(const LoadSteps&) = delete;
  LoadSteps& operator=(const LoadSteps&) = delete;

  // Waits for its turn and does `work`, whose status it returns.
  absl::Status Run(LoadStep step, absl::FunctionRef<absl::Status()> work)
      ABSL_LOCKS_EXCLUDED(mu_);

  absl::Duration longest() const { return longest_; }
  Clock& clock() const { return clock_; }

  // Counts what was done between batches without waiting for a turn, by the
  // worker itself.
  void Count(LoadStep step, absl::Duration took) ABSL_LOCKS_EXCLUDED(mu_);

  // From now on steps wait to be granted. `changed` is called, without a lock,
  // whenever one begins to wait or is over.
  void Open(std::function<void()> changed) ABSL_LOCKS_EXCLUDED(mu_);
  // Who is told of every step that is over, until Close.
  void Observe(DeviceObserver* observer) ABSL_LOCKS_EXCLUDED(mu_);

  // The worker is gone: steps run at once again, those that wait included.
  void Close() ABSL_LOCKS_EXCLUDED(mu_);

  // Whether a step waits to be granted, or runs.
  bool wanted() const ABSL_LOCKS_EXCLUDED(mu_);
  bool running() const ABSL_LOCKS_EXCLUDED(mu_);
  // Nothing runs on the device now: lets the step that has waited longest
  // begin, if there is one and none runs. Whether one runs now.
  bool Grant() ABSL_LOCKS_EXCLUDED(mu_);

  // The step that ended last.
  struct Last {
    absl::Time end = absl::InfinitePast();
    absl::Duration took;
  };
  Last last() const ABSL_LOCKS_EXCLUDED(mu_);

  // The first error of a step that IsDeviceFault; else OK.
  absl::Status fault() const ABSL_LOCKS_EXCLUDED(mu_);

  // Since when a step runs; nullopt: none does.
  std::optional<absl::Time> running_since() const ABSL_LOCKS_EXCLUDED(mu_);

  // Of all steps of a kind since the device was made.
  LoadStepTimes times(LoadStep step) const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  Clock& clock_;
  const absl::Duration longest_;

  mutable absl::Mutex mu_;
  bool open_ ABSL_GUARDED_BY(mu_) = false;
  std::function<void()> changed_ ABSL_GUARDED_BY(mu_);
  DeviceObserver* observer_ ABSL_GUARDED_BY(mu_) = nullptr;
  // Steps take numbers as they come; those below `granted_` may run, in order.
  int64_t next_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t granted_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t done_ ABSL_GUARDED_BY(mu_) = 0;
  std::optional<absl::Time> begun_ ABSL_GUARDED_BY(mu_);
  Last last_ ABSL_GUARDED_BY(mu_);
  absl::Status fault_ ABSL_GUARDED_BY(mu_);
  std::array<LoadStepTimes, kLoadSteps> times_ ABSL_GUARDED_BY(mu_);
};

// The steps that the thread which makes this runs while it is there: those of
// one load among others. Of several on one thread the last one counts.
class LoadStepRecord {
 public:
  // Of `steps`; null: nothing will be recorded.
  explicit LoadStepRecord(const LoadSteps* steps);
  LoadStepRecord(const LoadStepRecord&) = delete;
  LoadStepRecord& operator=(const LoadStepRecord&) = delete;
  ~LoadStepRecord();

  const LoadStepTimes& times(LoadStep step) const {
    return times_[static_cast<size_t>(step)];
  }

  // "upload=3 upload_longest_seconds=0.0021 ...", of the kinds that occurred.
  std::string text() const;

 private:
  friend class LoadSteps;

  const LoadSteps* const steps_;
  LoadStepRecord* const before_;  // on this thread
  std::array<LoadStepTimes, kLoadSteps> times_;
};

}  // namespace reprise
