// What a device tells as it happens, to whoever keeps count of it.
#pragma once

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/device/load_steps.h"

namespace reprise {

// What a run of a rung was for. Only those to warm up are not replays of a
// captured graph.
enum class RunKind {
  kBatch,   // of a caller's requests
  kWarmUp,  // before the rung is captured
  kCheck,   // a replay held against the run that was not captured
  kCanary,  // rows alone against rows among others
  kTiming,
};
inline constexpr int kRunKinds = static_cast<int>(RunKind::kTiming) + 1;
absl::string_view RunKindName(RunKind kind);

// Lifecycle: outlives the device.
// Threads: any; nothing here waits.
class DeviceObserver {
 public:
  virtual ~DeviceObserver() = default;

  // A run has been given to the device.
  virtual void Ran(RunKind kind) = 0;
  // A graph can be replayed: recording, instantiating and uploading it took
  // `took`, the waiting for its turns included.
  virtual void Captured(absl::Duration took) = 0;
  // A rung has been left out of a ladder, since it could not be captured.
  virtual void LeftOut() = 0;
  // A step of a loader is over.
  virtual void Stepped(LoadStep step, absl::Duration took) = 0;
};

}  // namespace reprise
