#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "runtime/base/status.h"
#include "runtime/device/fault.h"
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
constexpr int kFreeToHold = 2;

// Wait's answer to a run that goes on.
bool StillRuns(const absl::Status& status) {
  return absl::IsDeadlineExceeded(status) || absl::IsAborted(status);
}

}  // namespace

// Answers the decision's drops and forms its batch, if there is a slot for it.
BatchRun* WorkerImpl::TakeBatch(SlotLease slot, absl::Time now) {
  BatchRun* run = nullptr;
  if (slot) {
    Variant& variant = *step_.viewed[static_cast<size_t>(step_.decision.queue)];
    run = NewRun();
    run->Begin(variant,
               *variant.lanes[static_cast<size_t>(step_.decision.lane)],
               std::move(slot), step_.decision.lane);
    run->reason = step_.decision.reason;
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
  for (int queue = 0; queue < static_cast<int>(step_.viewed.size()); ++queue) {
    const bool chosen = run != nullptr && queue == step_.decision.queue;
    const bool dropped = drop < step_.decision.drops.size() &&
                         step_.decision.drops[drop].queue == queue;
    if (chosen || dropped) TakeFrom(queue, drop, chosen ? run : nullptr);
  }
  return run;
}

// The drops of one queue, from `drop` on, and the requests of `run`: both
// ascend, and are taken out in one pass.
void WorkerImpl::TakeFrom(int queue, size_t& drop, BatchRun* run) {
  Variant& variant = *step_.viewed[static_cast<size_t>(queue)];
  Served& served = variant.served;
  step_.indices.clear();
  for (; drop < step_.decision.drops.size() &&
         step_.decision.drops[drop].queue == queue;
       ++drop) {
    step_.indices.push_back(step_.decision.drops[drop].task);
  }
  const size_t drops = step_.indices.size();
  if (run != nullptr) {
    step_.indices.insert(step_.indices.end(), step_.decision.tasks.begin(),
                         step_.decision.tasks.end());
    // Unlike a merge, which would be shorter, it allocates nothing.
    if (drops > 0) std::sort(step_.indices.begin(), step_.indices.end());
  }
  step_.taken.clear();
  variant.queue.Take(step_.indices, step_.taken);
  size_t next = 0;  // of step_.decision.tasks
  for (size_t i = 0; i < step_.taken.size(); ++i) {
    if (run != nullptr && next < step_.decision.tasks.size() &&
        step_.decision.tasks[next] == step_.indices[i]) {
      ++next;
      run->Join(step_.taken[i]);
      continue;
    }
    served.bounds.Leave(*step_.taken[i].task);
    End(step_.taken[i],
        Annotate(absl::DeadlineExceededError(
                     "the request cannot be answered within its deadline"),
                 served.text),
        step_.ended);
  }
  if (drops == 0) return;
  ShowQueue(served);
  step_.room = step_.room || variants_.room_wanted();
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
    step_.answered += Answer(step_.ended);
  }
  run.gathered = clock_.Now();
  if (bytes >= kTimedGather) {
    const double ns_per_byte =
        absl::ToDoubleNanoseconds(run.gathered - run.picked) /
        static_cast<double>(bytes);
    step_.gather_ns_per_byte +=
        kGatherWeight * (ns_per_byte - step_.gather_ns_per_byte);
  }
}

// Takes a batch as far as it can go now: gathered, and submitted if its lane is
// free or nearly so; else it waits there until StagedDue.
void WorkerImpl::Execute(BatchRun& run) {
  if (run.state == BatchState::kGathering) GatherRun(run);
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
      run.state = BatchState::kStaged;
      lanes_[static_cast<size_t>(run.lane)].staged = &run;
    } else {
      ShowQueue(run.variant->served);
    }
  }
  step_.answered += Answer(step_.ended);
  if (lost) Finish(run);
  if (!submit) return;
  run.PadHoles();
  step_.in_flight.push_back(&run);
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
    End(member.waiting, std::move(leaves), step_.ended);
  }
}

void WorkerImpl::MarkSubmitted(BatchRun& run, absl::Time now) {
  Variant& variant = *run.variant;
  for (const BatchRun::Member& member : run.members) {
    if (member.live) variant.served.bounds.Leave(*member.waiting.task);
  }
  ShowQueue(variant.served);
  run.NoteHoles();
  run.state = BatchState::kSubmitted;
  run.rows = run.live_rows();
  run.rung = std::max(0, RungFor(variant.ladder, run.rows));
  run.submitted = now;
  Lane& lane = lanes_[static_cast<size_t>(run.lane)];
  run.started = lane.running.empty() ? now : std::max(now, lane.free_at);
  lane.free_at =
      run.started + variant.ladder[static_cast<size_t>(run.rung)].p50;
  lane.running.push_back(&run);
  steps_turn_ = batches_since_step_ = true;
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
  for (size_t i = 0; i < step_.in_flight.size();) {
    BatchRun& run = *step_.in_flight[i];
    const absl::StatusOr<RunTimes> result =
        run.executable->Wait(*run.slot, absl::InfinitePast());
    if (StillRuns(result.status())) {
      ++i;
    } else {
      Complete(run, result);  // takes it out of step_.in_flight
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
  if (IsDeviceFault(run.result)) Lose(run.result);
  run.computed = clock_.Now();
  std::erase(step_.in_flight, &run);
  Variant& variant = *run.variant;
  Rung predicted;
  {
    absl::MutexLock lock(&mu_);
    predicted = variant.ladder[static_cast<size_t>(run.rung)];
    if (result.ok()) variant.SetLadder(run.executable->ladder());
    if (!lost_.ok()) run.result = lost_;
    LeaveLane(run, run.computed);
    run.may_block_briefly =
        run.members.size() == 1 && accepted_ - step_.answered == 1;
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

void WorkerImpl::Observe(BatchRun& run, const Rung& predicted,
                         const RunTimes& times) {
  Variant& variant = *run.variant;
  ModelMetrics& model = variant.served.metrics;
  int rows = 0;
  for (const BatchRun::Member& member : run.members) {
    if (!member.live || member.waiting.task->warmup) continue;
    rows += member.waiting.rows;
    model.queue_seconds.Observe(
        absl::ToDoubleSeconds(run.picked - member.waiting.enqueued));
  }
  if (rows == 0) return;  // warm-up is no traffic
  run.counted_rows = rows;
  model.queue_seconds.Flush();
  absl::Duration busy = times.graph;
  if (times.graph_begun.has_value()) {
    busy = step_.busy.Add(*times.graph_begun, *times.graph_begun + times.graph);
  }
  model.ObserveRun(rows, predicted, times, busy);
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
    run.state = BatchState::kDone;
    while (!served.order.empty() &&
           served.order.front()->state == BatchState::kDone) {
      due.push_back(served.order.front());
      served.order.pop_front();
    }
  }
  for (BatchRun* next : due) Deliver(*next);
}

void WorkerImpl::Deliver(BatchRun& run) {
  run.may_hold = run.executable->free_slots() >= kFreeToHold;
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
    result.batch_rows = run.counted_rows;
    result.may_block_briefly = run.may_block_briefly;
    ++step_.answered;
    member.waiting.task->Complete(std::move(result));
  }
  run.Unref();
}

void WorkerImpl::Recycle(BatchRun& run) {
  run.slot.Reset();  // first: the executable outlives its slots
  WakeUp wake = WakeUp::kNone;
  bool room = false;
  {
    absl::MutexLock lock(&mu_);
    metrics_.slots_in_flight->Set(--slots_out_);
    Variant& variant = *run.variant;
    const int left = --variant.runs;
    --variant.served.runs;
    run.state = BatchState::kDone;
    free_runs_.push_back(&run);
    room = variants_.room_wanted() && left == 0;
    LeaveRetired(run);
    if (slot_wanted_ || variant.served.removing || !to_destroy_.empty()) {
      wake = Notify();
    }
    if (wake == WakeUp::kNone && !room) return;
    ++waking_;
  }
  Wake(wake);
  if (room) builder_.Request();
  absl::MutexLock lock(&mu_);
  --waking_;
}

}  // namespace reprise
