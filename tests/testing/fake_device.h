// A device without arithmetic: runs end when told, and everything is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "runtime/device/device.h"
#include "runtime/device/executable.h"

namespace reprise::testing {

// Of every model, of every executable, of all slots.
inline constexpr int64_t kFakeWeightBytes = 1000;
inline constexpr int64_t kFakeArenaBytes = 100;
inline constexpr int64_t kFakeSlotBytes = 10;

// When a run of the fake device is done.
enum class FakeRun {
  kInstant,  // as soon as it is submitted
  kManual,   // when the test calls Finish
  kTimed,    // when the clock has passed its rung's time, lanes one by one
};

struct FakeDeviceOptions {
  FakeRun run = FakeRun::kInstant;
  int slots = 3;  // of the pool, all lanes together
  // Times of a rung; p50 and p99.9 alike.
  std::function<absl::Duration(int rows)> rung_time = [](int rows) {
    return absl::Microseconds(550 + 115 * rows);
  };
  // As Executable::RunsInline; its executables may then be used on any thread.
  bool runs_inline = false;
  std::optional<int> gpu_index = std::nullopt;  // as Device::gpu_index
  bool load_steps = false;       // loading takes turns with batches
  bool lost_when_stuck = false;  // as Device::is_lost_when_stuck
};

// One batch that reached the device.
struct FakeLaunch {
  int rows = 0;  // real rows
  int rung = 0;
  int lane = 0;
  // The first (up to) eight bytes of input 0 of each row, padding included.
  std::vector<uint64_t> tags;
};

// One call of Prepare.
struct FakePrepare {
  std::vector<int64_t> dims;
  std::vector<int> sizes;
  int lane = 0;
};

// The test's side: options, counters and the handle that ends runs. The Device
// that `factory` or `Make` gives out refers to it, so it must outlive that.
// Outputs are copies: output k is input min(k, inputs - 1), cut or zero-filled
// to its own row size.
//
// Threads: every method from any thread.
class FakeDevice {
 public:
  explicit FakeDevice(Clock& clock, FakeDeviceOptions options = {});
  ~FakeDevice();

  // What DeviceWorker::Create takes (as a DeviceWorker::DeviceFactory).
  std::function<absl::StatusOr<std::unique_ptr<Device>>()> factory();
  std::unique_ptr<Device> Make();
  // A loaded model of `signature`, for a worker that runs on this device.
  std::unique_ptr<LoadedModel> Load(const Signature& signature);

  // kManual: ends the oldest unfinished run (of `lane`, if not negative).
  // Blocks until there is one.
  void Finish(absl::Status status = absl::OkStatus(), int lane = -1)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Every run so far, and from now on runs are instant.
  void FinishAll() ABSL_LOCKS_EXCLUDED(mu_);

  // Blocks until `count` batches have reached the device in all.
  void AwaitLaunches(int count) ABSL_LOCKS_EXCLUDED(mu_);
  int launches() const ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<FakeLaunch> launch_log() const ABSL_LOCKS_EXCLUDED(mu_);
  // Called for every launch, on the worker's thread; the log is then not kept.
  void OnLaunch(std::function<void(const FakeLaunch&)> callback);

  // With FakeDeviceOptions::load_steps: the loader's side is the test's.
  LoadSteps& load_steps() { return load_steps_; }

  // What the last load asked for.
  LoadOptions load_options() const ABSL_LOCKS_EXCLUDED(mu_);

  // Prepare of these dims fails with `status`; OK: not any more.
  void FailPrepare(const VariantKey& dims, absl::Status status)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Called in every Prepare, on the loader's thread.
  void OnPrepare(std::function<void()> callback) ABSL_LOCKS_EXCLUDED(mu_);
  // While held, Prepare blocks.
  void HoldPrepare(bool held) ABSL_LOCKS_EXCLUDED(mu_);
  // Blocks the calls of Prepare behind the first `count`, in all.
  void HoldPrepareAfter(int count) ABSL_LOCKS_EXCLUDED(mu_);
  void AwaitPrepares(int count) ABSL_LOCKS_EXCLUDED(mu_);  // begun, in all
  int prepares() const ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<FakePrepare> prepare_log() const ABSL_LOCKS_EXCLUDED(mu_);
  // What Submit returns from now on.
  void FailSubmit(absl::Status status) ABSL_LOCKS_EXCLUDED(mu_);

  // Objects alive: executables, loaded models, devices; slots handed out.
  int live_executables() const ABSL_LOCKS_EXCLUDED(mu_);
  void AwaitExecutables(int count) ABSL_LOCKS_EXCLUDED(mu_);  // alive
  int live_models() const ABSL_LOCKS_EXCLUDED(mu_);
  int live_devices() const ABSL_LOCKS_EXCLUDED(mu_);
  int slots_out() const ABSL_LOCKS_EXCLUDED(mu_);
  // Calls of an executable, or of the device's end, on another thread than the
  // one that made the device.
  int wrong_thread_calls() const ABSL_LOCKS_EXCLUDED(mu_);
  int wakes() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  class Impl;
  class Model;
  class Exec;
  class PoolSlot;
  struct Run;

  void CheckThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CheckUser() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool Over(const Run& run) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Run* Unfinished(int lane) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Clock& clock_;
  const FakeDeviceOptions options_;
  LoadSteps load_steps_{clock_};

  mutable absl::Mutex mu_;
  FakeRun mode_ ABSL_GUARDED_BY(mu_);
  std::vector<std::unique_ptr<PoolSlot>> slots_ ABSL_GUARDED_BY(mu_);
  std::deque<std::unique_ptr<Run>> runs_ ABSL_GUARDED_BY(mu_);  // by age
  std::map<int, absl::Time> lane_free_ ABSL_GUARDED_BY(mu_);
  std::vector<FakeLaunch> log_ ABSL_GUARDED_BY(mu_);
  std::function<void(const FakeLaunch&)> on_launch_ ABSL_GUARDED_BY(mu_);
  std::map<std::vector<int64_t>, absl::Status> fail_prepare_
      ABSL_GUARDED_BY(mu_);
  std::function<void()> on_prepare_ ABSL_GUARDED_BY(mu_);
  absl::Status fail_submit_ ABSL_GUARDED_BY(mu_);
  LoadOptions load_options_ ABSL_GUARDED_BY(mu_);
  int hold_prepare_after_ ABSL_GUARDED_BY(mu_) =
      std::numeric_limits<int>::max();
  bool woken_ ABSL_GUARDED_BY(mu_) = false;
  DeviceObserver* observer_ ABSL_GUARDED_BY(mu_) = nullptr;
  uint64_t owner_ ABSL_GUARDED_BY(mu_) = 0;  // the thread that made the device
  int launches_ ABSL_GUARDED_BY(mu_) = 0;
  int prepares_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<FakePrepare> prepare_log_ ABSL_GUARDED_BY(mu_);
  int executables_ ABSL_GUARDED_BY(mu_) = 0;
  int models_ ABSL_GUARDED_BY(mu_) = 0;
  int devices_ ABSL_GUARDED_BY(mu_) = 0;
  int wrong_thread_ ABSL_GUARDED_BY(mu_) = 0;
  int wakes_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace reprise::testing
