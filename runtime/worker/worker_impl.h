// The device worker's inside: its state, its loop, and its batches.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "runtime/base/thread.h"
#include "runtime/batch/admission.h"
#include "runtime/batch/policy.h"
#include "runtime/worker/batch_run.h"
#include "runtime/worker/busy_time.h"
#include "runtime/worker/destroy_list.h"
#include "runtime/worker/device_metrics.h"
#include "runtime/worker/device_worker.h"
#include "runtime/worker/served.h"
#include "runtime/worker/variant_builder.h"
#include "runtime/worker/variant_table.h"
#include "runtime/worker/worker_metrics.h"

namespace reprise {

// Threads: the public methods from any; `Serve` is the worker's thread,
// `NextBuild` and `Built` come on the builder's. One mutex guards what they
// share; no task is completed, no batch gathered, and no device called for work
// with it held. The builder's own, and the one under which the worker's
// thread rests, are never taken with it held.
class WorkerImpl final : public DeviceWorker,
                         private BatchRun::Owner,
                         private VariantBuilder::Owner {
 public:
  WorkerImpl(const WorkerOptions& options, Clock& clock,
             prometheus::Registry& metrics);
  ~WorkerImpl() override;

  // Starts the threads; returns when the device is made, or as `factory` fails.
  absl::Status Start(const DeviceFactory& factory) ABSL_LOCKS_EXCLUDED(mu_);

  Device& device() override { return *device_; }
  void Add(ServedModel model) override ABSL_LOCKS_EXCLUDED(mu_);
  void Remove(uint64_t uid) override ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Offer(uint64_t uid, InferTask& task) override
      ABSL_LOCKS_EXCLUDED(mu_);
  void Cancel(uint64_t uid, InferTask& task) override ABSL_LOCKS_EXCLUDED(mu_);
  WorkerLoad load() const override;
  void CheckWatchdog() override ABSL_LOCKS_EXCLUDED(mu_);
  void Lose(const absl::Status& why) override ABSL_LOCKS_EXCLUDED(mu_);
  bool Stop(absl::Time deadline) override ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // What a lane has been given; at most two running and one staged.
  struct Lane {
    std::vector<BatchRun*> running;  // in order
    BatchRun* staged = nullptr;
    absl::Time free_at = absl::InfinitePast();  // predicted
  };

  // A task on its way out, with the answer; to be completed without the lock.
  struct Ended {
    InferTask* task;
    absl::Status status;
    StageTimes times;
  };
  using EndedTasks = std::vector<Ended>;

  // How the worker is made to look again, once the lock is released.
  enum class WakeUp { kNone, kThread, kDevice };

  // What is to be done once the lock is released.
  struct Effects {
    WakeUp wake = WakeUp::kNone;
    bool build = false;        // the builder is asked
    bool run_inline = false;   // the caller takes the worker's steps,
    BatchRun* next = nullptr;  // of which this is the first, if any
  };

  // Touched only by whoever takes the worker's steps, with or without the lock:
  // its thread, or the one that runs a task inline. `running_inline_` hands it
  // over, under the lock, while the other of the two stands still.
  struct StepState {
    EndedTasks ended;
    int64_t answered = 0;              // not yet taken off accepted_
    bool room = false;                 // for the builder, perhaps
    std::vector<BatchRun*> in_flight;  // of all lanes, as submitted
    std::vector<Waiting> taken;
    std::vector<int> indices;
    std::vector<QueueView> views;
    std::vector<Variant*> viewed;
    std::vector<LaneView> lane_views;
    Decision decision;
    absl::Time next_expiry;           // of what waited at the last decision
    double gather_ns_per_byte = 0.1;  // as measured
    BusyTime busy;                    // of all lanes
  };

  // device_worker.cc: the way in, and out without running.
  absl::Status Accept(uint64_t uid, InferTask& task, Effects& effects)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Admitted(Variant& variant, InferTask& task, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  AdmissionView ViewForAdmission(Variant& variant, int64_t rows_ahead,
                                 absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool MustWakeFor(Variant& variant, const InferTask& task, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The worker shall look again: call Wake with what this returns.
  WakeUp Notify() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Wake(WakeUp how) ABSL_LOCKS_EXCLUDED(mu_, rest_mu_);
  bool MayRunInline(Variant& variant, const InferTask& task, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Withdraw(Served& served, const absl::Status& status, EndedTasks& ended)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool LeaveBatch(Served& served, const InferTask* task,
                  const absl::Status& status, EndedTasks& ended)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool AllAnswered() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return accepted_ == 0;
  }
  void End(const Waiting& waiting, absl::Status status, EndedTasks& ended);
  // Completes and clears; returns how many. Never with the lock held.
  static int64_t Answer(EndedTasks& ended);
  void ShowQueue(Served& served) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // worker_faults.cc: what nobody waits for any more.
  void AbandonRuns(const absl::Status& status, EndedTasks& ended)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // worker_loop.cc: the worker's thread.
  void Serve(const DeviceFactory& factory) ABSL_LOCKS_EXCLUDED(mu_);
  bool Step() ABSL_LOCKS_EXCLUDED(mu_);
  BatchRun* DecideInline(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RunInline(BatchRun* next) ABSL_LOCKS_EXCLUDED(mu_);
  bool NothingLeft(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool NotRunningInline() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return !running_inline_;
  }
  bool NobodyWakes() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Tidy(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CollectRemoved() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ShowLanes() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  static void ShowInOrder(const Variant& variant, QueueView& view);
  static void ShowFitting(const Variant& variant, QueueView& view);
  QueueView ViewOf(Variant& variant, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void LookAgain() ABSL_LOCKS_EXCLUDED(mu_);
  absl::Time StepsFrom() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool StepFirst(absl::Time now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void GrantStep(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  BatchRun* StagedDue(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  BatchRun* DecideNext(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Time NextTimer(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void UpdateLoads(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The run to wait for; null if nothing runs: then the worker rests. Either
  // way not beyond `until`.
  BatchRun* Park(absl::Time now, absl::Time& until)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Rest(absl::Time until) ABSL_LOCKS_EXCLUDED(mu_, rest_mu_);

  // worker_batches.cc: one batch, from the queue to its answers.
  BatchRun* TakeBatch(SlotLease slot, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void TakeFrom(int queue, size_t& drop, BatchRun* run)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  BatchRun* NewRun() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void GatherRun(BatchRun& run) ABSL_LOCKS_EXCLUDED(mu_);
  void Execute(BatchRun& run) ABSL_LOCKS_EXCLUDED(mu_);
  void Settle(BatchRun& run, absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool MaySubmit(const BatchRun& run, absl::Time now) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void MarkSubmitted(BatchRun& run, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ArmWatchdog() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void FinishRuns() ABSL_LOCKS_EXCLUDED(mu_);
  void AwaitRun(BatchRun& run, absl::Time until) ABSL_LOCKS_EXCLUDED(mu_);
  void Complete(BatchRun& run, const absl::StatusOr<RunTimes>& result)
      ABSL_LOCKS_EXCLUDED(mu_);
  void LeaveLane(BatchRun& run, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Observe(BatchRun& run, const Rung& predicted, const RunTimes& times);
  // In order, with preserve_ordering; at once otherwise.
  void Finish(BatchRun& run) ABSL_LOCKS_EXCLUDED(mu_);
  void Deliver(BatchRun& run) ABSL_LOCKS_EXCLUDED(mu_);
  void Recycle(BatchRun& run) override ABSL_LOCKS_EXCLUDED(mu_);

  // worker_variants.cc: variants made on demand, and what they replace.
  VariantBuilder::Job NextBuild() override ABSL_LOCKS_EXCLUDED(mu_);
  void Built(const VariantBuilder::Job& job, const absl::Status& status,
             Prepared made) override ABSL_LOCKS_EXCLUDED(mu_);
  bool NothingToDestroy() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return to_destroy_.idle();
  }
  bool OnDevice(const Variant& variant) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void TakeOver(Variant& variant) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void LeaveRetired(const BatchRun& run) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void DestroyCollected() ABSL_LOCKS_EXCLUDED(mu_);
  // After models or variants have come or gone; never while serving.
  void ShowMemory() ABSL_LOCKS_EXCLUDED(mu_);

  // Constant after construction.
  const WorkerOptions options_;
  Clock& clock_;
  Device* device_ =
      nullptr;  // of the worker's thread; set before Start returns
  LoadSteps* steps_ = nullptr;  // of the device; null: it has none
  WorkerMetrics metrics_;
  std::optional<DeviceMetrics> device_metrics_;  // of a GPU

  // Synchronised by themselves.
  std::atomic<int64_t> outstanding_ns_{0};
  std::atomic<int64_t> stuck_at_ns_;  // since the epoch; INT64_MAX: never
  std::atomic<bool> losing_{false};   // Lose has been called

  mutable absl::Mutex mu_;
  bool made_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status made_status_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  bool quit_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status lost_ ABSL_GUARDED_BY(mu_);     // what everybody is told
  int64_t accepted_ ABSL_GUARDED_BY(mu_) = 0;  // and not answered
  absl::flat_hash_map<uint64_t, std::unique_ptr<Served>> models_
      ABSL_GUARDED_BY(mu_);
  std::vector<uint64_t> leaving_ ABSL_GUARDED_BY(mu_);  // to be destroyed
  VariantTable variants_ ABSL_GUARDED_BY(mu_);
  std::vector<Lane> lanes_ ABSL_GUARDED_BY(mu_);
  // The batch in the worker's hands: being gathered, or staged and on its way
  // to the device.
  BatchRun* gathering_ ABSL_GUARDED_BY(mu_) = nullptr;
  std::vector<std::unique_ptr<BatchRun>> runs_ ABSL_GUARDED_BY(mu_);
  std::vector<BatchRun*> free_runs_ ABSL_GUARDED_BY(mu_);
  int slots_out_ ABSL_GUARDED_BY(mu_) = 0;
  // Threads that wake somebody although no model is left, perhaps, that would
  // keep the worker: it and its device stay until they are done.
  int waking_ ABSL_GUARDED_BY(mu_) = 0;
  bool slot_wanted_ ABSL_GUARDED_BY(mu_) = false;
  // A batch has been submitted since a loader's last step.
  bool steps_turn_ ABSL_GUARDED_BY(mu_) = false;
  bool batches_since_step_ ABSL_GUARDED_BY(mu_) = false;  // have been submitted
  DestroyList to_destroy_ ABSL_GUARDED_BY(mu_);
  absl::Time next_load_update_ ABSL_GUARDED_BY(mu_) = absl::InfiniteFuture();

  // Who takes the worker's steps: its thread, or, while that is parked, one
  // that has offered a request and runs it inline.
  bool running_inline_ ABSL_GUARDED_BY(mu_) = false;
  bool look_again_ ABSL_GUARDED_BY(mu_) = false;  // the worker, after that
  absl::Time rests_since_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();

  // How the worker waits, if it does.
  bool parked_ ABSL_GUARDED_BY(mu_) = false;
  bool in_device_ ABSL_GUARDED_BY(mu_) = false;
  absl::Time wait_until_ ABSL_GUARDED_BY(mu_);
  absl::Time decide_after_ ABSL_GUARDED_BY(mu_);  // when a lane takes a batch

  // Where the worker's thread rests. Not under `mu_`, whose every unlock would
  // look at what it waits for.
  absl::Mutex rest_mu_;
  bool woken_ ABSL_GUARDED_BY(rest_mu_) = false;

  StepState step_;

  VariantBuilder builder_;
  Thread thread_;
};

}  // namespace reprise
