#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "runtime/base/status.h"
#include "runtime/worker/worker_impl.h"

namespace reprise {
namespace {

// While a batch is gathered, what expires is answered between two requests, at
// least after so many bytes.
constexpr int64_t kBytesBetweenLooks = int64_t{256} << 10;

// Below this a gather is too short to be timed.
constexpr int64_t kTimedGather = int64_t{64} << 10;
constexpr double kGatherWeight = 0.2;  // of the newest time

constexpr int kStuckFactor = 20;

// Slots that must be free for replies to hold theirs while they are sent.
constexpr size_t kPlentiful = 2;

// Wait's answer to a run that goes on.
bool StillRuns(const absl::Status& status) {
  return absl::IsDeadlineExceeded(status) || absl::IsAborted(status);
}

}  // namespace

// Answers the decision's drops and forms its batch, if there is a slot for it.
BatchRun* WorkerImpl::TakeBatch(SlotLease slot, absl::Time now) {
  BatchRun* run = nullptr;
  if (slot) {
    Variant& variant = *viewed_[static_cast<size_t>(decision_.queue)];
    run = NewRun();
    run->Begin(variant, *variant.lanes[static_cast<size_t>(decision_.lane)],
               std::move(slot), decision_.lane);
    run->reason = decision_.reason;
    run->picked = now;
    variant.last_run = now;
    ++variant.runs;
    ++variant.served.runs;
    if (variant.served.batch().preserve_ordering) {
      variant.served.order.push_back(run);
    }
    gathering_ = run;
    metrics_.slots_in_flight->Set(++slots_out_);
  }
  size_t drop = 0;
  for (int queue = 0; queue < static_cast<int>(viewed_.size()); ++queue) {
    const bool chosen = run != nullptr && queue == decision_.queue;
    const bool dropped =
        drop < decision_.drops.size() && decision_.drops[drop].queue == queue;
    if (chosen || dropped) TakeFrom(queue, drop, chosen ? run : nullptr);
  }
  return run;
}

// The drops of one queue, from `drop` on, and the requests of `run`: both
// ascend, and are taken out in one pass.
void WorkerImpl::TakeFrom(int queue, size_t& drop, BatchRun* run) {
  Variant& variant = *viewed_[static_cast<size_t>(queue)];
  Served& served = variant.served;
  indices_.clear();
  for (; drop < decision_.drops.size() && decision_.drops[drop].queue == queue;
       ++drop) {
    indices_.push_back(decision_.drops[drop].task);
  }
  const size_t drops = indices_.size();
  if (run != nullptr) {
    indices_.insert(indices_.end(), decision_.tasks.begin(),
                    decision_.tasks.end());
    std::inplace_merge(indices_.begin(),
                       indices_.begin() + static_cast<ptrdiff_t>(drops),
                       indices_.end());
  }
  taken_.clear();
  variant.queue.Take(indices_, taken_);
  size_t next = 0;  // of decision_.tasks
  for (size_t i = 0; i < taken_.size(); ++i) {
    if (run != nullptr && next < decision_.tasks.size() &&
        decision_.tasks[next] == indices_[i]) {
      ++next;
      run->Join(taken_[i]);
      continue;
    }
    served.bounds.Leave(*taken_[i].task);
    End(taken_[i],
        Annotate(absl::DeadlineExceededError(
                     "the request cannot be answered within its deadline"),
                 served.text),
        ended_);
  }
  if (drops == 0) return;
  ShowQueue(served);
  room_ = room_ || room_wanted_;
}

BatchRun* WorkerImpl::NewRun() {
  if (free_runs_.empty()) {
    runs_.push_back(
        std::make_unique<BatchRun>(static_cast<BatchRun::Owner&>(*this)));
    free_runs_.push_back(runs_.back().get());
  }
  BatchRun* run = free_runs_.back();
  free_runs_.pop_back();
  return run;
}

void WorkerImpl::GatherRun(BatchRun& run) {
  int64_t bytes = 0;
  int64_t looked_at = 0;
  for (BatchRun::Member& member : run.members) {
    if (!member.live) continue;
    const InferTask& task = *member.waiting.task;
    member.gathered = Gather(task, run.buffers, member.first_row,
                             run.executable->signature());
    bytes += task.bytes;
    if (bytes - looked_at < kBytesBetweenLooks) continue;
    looked_at = bytes;
    {
      absl::MutexLock lock(&mu_);
      const absl::Time now = clock_.Now();
      Tidy(now);
      Settle(run, now);  // no request's bytes are being read just now
    }
    answered_ += Answer(ended_);
  }
  run.gathered = clock_.Now();
  if (bytes >= kTimedGather) {
    const double ns_per_byte =
        absl::ToDoubleNanoseconds(run.gathered - run.picked) /
        static_cast<double>(bytes);
    gather_ns_per_byte_ += kGatherWeight * (ns_per_byte - gather_ns_per_byte_);
  }
}

// Takes a batch as far as it can go now: gathered, and submitted if its lane is
// free or nearly so; else it waits there until StagedDue.
void WorkerImpl::Execute(BatchRun& run) {
  if (run.state == RunState::kGathering) GatherRun(run);
  bool submit = false;
  bool lost = false;
  {
    absl::MutexLock lock(&mu_);
    gathering_ = nullptr;
    const absl::Time now = clock_.Now();
    Settle(run, now);
    lost = run.live_members() == 0;
    submit = !lost && MaySubmit(run, now);
    if (submit) {
      MarkSubmitted(run, now);
    } else if (!lost) {
      run.state = RunState::kStaged;
      lanes_[static_cast<size_t>(run.lane)].staged = &run;
    }
  }
  answered_ += Answer(ended_);
  if (lost) Finish(run);
  if (!submit) return;
  run.PadHoles();
  in_flight_.push_back(&run);
  const absl::Status submitted = run.executable->Submit(*run.slot, run.rows);
  if (!submitted.ok()) Complete(run, submitted);
}

// Those that were cancelled meanwhile, have expired, or could not be gathered,
// leave the batch.
void WorkerImpl::Settle(BatchRun& run, absl::Time now) {
  Served& served = run.variant->served;
  for (BatchRun::Member& member : run.members) {
    if (!member.live) continue;
    absl::Status leaves = member.leaves;
    if (leaves.ok() && !member.gathered.ok()) {
      leaves = Annotate(member.gathered, served.text);
    } else if (leaves.ok() && member.waiting.expiry <= now) {
      leaves = Annotate(ExpiredStatus(member.waiting, served.bounds, now),
                        served.text);
    } else if (leaves.ok() && served.removing) {
      leaves = absl::UnavailableError(served.text + " is being unloaded");
    }
    if (leaves.ok()) continue;
    member.live = false;
    served.bounds.Leave(*member.waiting.task);
    End(member.waiting, std::move(leaves), ended_);
  }
}

void WorkerImpl::MarkSubmitted(BatchRun& run, absl::Time now) {
  Variant& variant = *run.variant;
  for (const BatchRun::Member& member : run.members) {
    if (member.live) variant.served.bounds.Leave(*member.waiting.task);
  }
  ShowQueue(variant.served);
  run.NoteHoles();
  run.state = RunState::kSubmitted;
  run.rows = run.live_rows();
  run.rung = std::max(0, RungFor(variant.ladder, run.rows));
  run.submitted = now;
  Lane& lane = lanes_[static_cast<size_t>(run.lane)];
  run.started = lane.running.empty() ? now : std::max(now, lane.free_at);
  lane.free_at =
      run.started + variant.ladder[static_cast<size_t>(run.rung)].p50;
  lane.running.push_back(&run);
  ArmWatchdog();
}

// The earliest instant at which a run counts as stuck.
void WorkerImpl::ArmWatchdog() {
  absl::Time stuck = absl::InfiniteFuture();
  for (const Lane& lane : lanes_) {
    if (lane.running.empty()) continue;
    const BatchRun& run = *lane.running.front();
    const absl::Duration worst =
        run.variant->ladder[static_cast<size_t>(run.rung)].p999;
    stuck = std::min(
        stuck, run.started + std::max(options_.watchdog, kStuckFactor * worst));
  }
  stuck_at_ns_.store(stuck == absl::InfiniteFuture()
                         ? std::numeric_limits<int64_t>::max()
                         : absl::ToUnixNanos(stuck),
                     std::memory_order_relaxed);
}

// Whatever the device has finished by now.
void WorkerImpl::FinishRuns() {
  for (size_t i = 0; i < in_flight_.size();) {
    BatchRun& run = *in_flight_[i];
    const absl::StatusOr<RunTimes> result =
        run.executable->Wait(*run.slot, absl::InfinitePast());
    if (StillRuns(result.status())) {
      ++i;
    } else {
      Complete(run, result);  // takes it out of in_flight_
    }
  }
}

void WorkerImpl::AwaitRun(BatchRun& run, absl::Time until) {
  const absl::StatusOr<RunTimes> result =
      run.executable->Wait(*run.slot, until);
  if (!StillRuns(result.status())) Complete(run, result);
}

void WorkerImpl::Complete(BatchRun& run,
                          const absl::StatusOr<RunTimes>& result) {
  run.result = result.status();
  run.computed = clock_.Now();
  std::erase(in_flight_, &run);
  Variant& variant = *run.variant;
  Rung predicted;
  {
    absl::MutexLock lock(&mu_);
    predicted = variant.ladder[static_cast<size_t>(run.rung)];
    if (result.ok()) variant.SetLadder(run.executable->ladder());
    LeaveLane(run, run.computed);
    run.alone = run.members.size() == 1 && accepted_ - answered_ == 1;
    int64_t cost = 0;
    for (const BatchRun::Member& member : run.members) {
      if (member.live) cost += absl::ToInt64Nanoseconds(member.waiting.cost);
    }
    outstanding_ns_.fetch_sub(cost, std::memory_order_relaxed);
  }
  if (result.ok()) Observe(run, predicted, *result);
  Finish(run);
}

void WorkerImpl::LeaveLane(BatchRun& run, absl::Time now) {
  Lane& lane = lanes_[static_cast<size_t>(run.lane)];
  lane.running.erase(std::find(lane.running.begin(), lane.running.end(), &run));
  lane.free_at = now;
  for (BatchRun* next : lane.running) {
    next->started = lane.free_at;
    lane.free_at += next->variant->ladder[static_cast<size_t>(next->rung)].p50;
  }
  ArmWatchdog();
}

void WorkerImpl::Observe(const BatchRun& run, const Rung& predicted,
                         const RunTimes& times) {
  Variant& variant = *run.variant;
  ModelMetrics& model = variant.served.metrics;
  int rows = 0;
  for (const BatchRun::Member& member : run.members) {
    if (!member.live) continue;
    rows += member.waiting.rows;
    model.queue_seconds.Observe(
        absl::ToDoubleSeconds(run.picked - member.waiting.enqueued));
  }
  model.queue_seconds.Flush();
  model.ObserveRun(rows, predicted, times);
  model.dispatched[static_cast<size_t>(run.reason)]->Increment();
  const auto rung = static_cast<size_t>(run.rung);
  variant.metrics->rungs[rung].batches->Increment();
  variant.metrics->rungs[rung].time->Observe(
      absl::ToDoubleSeconds(times.graph));
  variant.metrics->SetTimes(rung, run.executable->ladder()[rung]);
  variant.served.model->statistics().AddBatch(
      rows, run.gathered - run.picked + times.copy_in, times.graph,
      times.copy_out);
}

void WorkerImpl::Finish(BatchRun& run) {
  Served& served = run.variant->served;
  if (!served.batch().preserve_ordering) {
    Deliver(run);
    return;
  }
  std::vector<BatchRun*> due;  // once the last is delivered, `served` may go
  {
    absl::MutexLock lock(&mu_);
    run.state = RunState::kDone;
    while (!served.order.empty() &&
           served.order.front()->state == RunState::kDone) {
      due.push_back(served.order.front());
      served.order.pop_front();
    }
  }
  for (BatchRun* next : due) Deliver(*next);
}

void WorkerImpl::Deliver(BatchRun& run) {
  {
    SlotLease probes[kPlentiful];
    size_t free = 0;
    while (free < kPlentiful &&
           (probes[free] = run.executable->AcquireSlot())) {
      ++free;
    }
    run.slots_plentiful = free == kPlentiful;
  }
  const absl::Status status = Annotate(run.result, run.variant->served.text);
  for (const BatchRun::Member& member : run.members) {
    if (!member.live) continue;
    TaskResult result;
    result.status = status;
    if (status.ok()) {
      result.output = BatchOutput(&run, member.first_row, member.waiting.rows);
    }
    result.times = {.arrival = member.waiting.task->arrival,
                    .enqueued = member.waiting.enqueued,
                    .picked = run.picked,
                    .gathered = run.gathered,
                    .computed = run.computed};
    result.at_leisure = run.alone;
    ++answered_;
    member.waiting.task->Complete(std::move(result));
  }
  run.Unref();
}

void WorkerImpl::Recycle(BatchRun& run) {
  run.slot.Reset();  // first: the executable outlives its slots
  bool wake = false;
  bool room = false;
  {
    absl::MutexLock lock(&mu_);
    metrics_.slots_in_flight->Set(--slots_out_);
    Variant& variant = *run.variant;
    const int left = --variant.runs;
    --variant.served.runs;
    run.state = RunState::kDone;
    free_runs_.push_back(&run);
    room = room_wanted_ && left == 0;
    LeaveRetired(run);
    if (slot_wanted_ || variant.served.removing || !doomed_.empty()) {
      wake = Notify();
    }
  }
  WakeDevice(wake);
  if (room) RequestBuilds();
}

// The last batch that ran on executables that were replaced takes them along.
void WorkerImpl::LeaveRetired(const BatchRun& run) {
  Variant& variant = *run.variant;
  const bool retired =
      std::any_of(variant.retired.begin(), variant.retired.end(),
                  [&](const std::unique_ptr<Executable>& one) {
                    return one.get() == run.executable;
                  });
  if (!retired || --variant.retired_runs > 0) return;
  Doom({.lanes = std::exchange(variant.retired, {}), .metrics = nullptr});
}

}  // namespace reprise
