#include "runtime/worker/device_worker.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/worker/retry_after.h"
#include "runtime/worker/worker_impl.h"

namespace reprise {
namespace {

// How long Stop waits, once its deadline has passed, for the tasks that the
// worker is just answering.
constexpr absl::Duration kLastAnswers = absl::Seconds(1);

constexpr absl::Duration kRetryWithoutTimes = absl::Seconds(1);

// How long the worker must have been at rest for a caller to run inline: longer
// than a polling thread takes from one request that waits to the next.
constexpr absl::Duration kRest = absl::Microseconds(40);

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceWorker>> DeviceWorker::Create(
    const DeviceFactory& factory, const WorkerOptions& options, Clock& clock,
    prometheus::Registry& metrics) {
  auto worker = std::make_unique<WorkerImpl>(options, clock, metrics);
  REPRISE_RETURN_IF_ERROR(worker->Start(factory));
  return std::unique_ptr<DeviceWorker>(std::move(worker));
}

WorkerImpl::WorkerImpl(const WorkerOptions& options, Clock& clock,
                       prometheus::Registry& metrics)
    : options_(options),
      clock_(clock),
      metrics_(metrics, options.gpu_index),
      stuck_at_ns_(std::numeric_limits<int64_t>::max()),
      builder_(*this, metrics_, clock_) {
  if (options.gpu_index.has_value()) {
    device_metrics_.emplace(metrics, metrics_.device());
  }
}

absl::Status WorkerImpl::Start(const DeviceFactory& factory) {
  thread_ = Thread(absl::StrCat("worker-", metrics_.device()),
                   [this, factory] { Serve(factory); });
  {
    absl::MutexLock lock(&mu_, absl::Condition(&made_));
    REPRISE_RETURN_IF_ERROR(made_status_);
  }
  builder_.Start();
  return absl::OkStatus();
}

WorkerImpl::~WorkerImpl() {
  Stop(absl::InfinitePast());
  builder_.Stop();  // first: it needs the worker and the device
  WakeUp wake = WakeUp::kNone;
  {
    absl::MutexLock lock(&mu_);
    quit_ = true;
    ++waking_;
    for (auto& [uid, served] : models_) {
      if (std::exchange(served->removing, true)) continue;
      leaving_.push_back(uid);
    }
    wake = Notify();
  }
  Wake(wake);
  {
    absl::MutexLock lock(&mu_);
    --waking_;
  }
  thread_.Join();
  absl::MutexLock lock(&mu_);  // whoever recycled last has let go of it
}

void WorkerImpl::Wake(WakeUp how) {
  if (how == WakeUp::kDevice) device_->Wake();
  if (how != WakeUp::kThread) return;
  absl::MutexLock lock(&rest_mu_);
  woken_ = true;
}

void WorkerImpl::Add(ServedModel model) {
  auto served = std::make_unique<Served>(*model.model, metrics_);
  served->loaded = std::move(model.loaded);
  served->weight_bytes = served->loaded->weight_bytes();
  served->max_rows = model.model->config().ladder.back();
  served->lane_count = std::max(1, model.model->config().instances);
  for (ServedModel::Variant& prepared : model.variants) {
    Variant& variant = served->AddVariant(prepared.key);
    variant.pinned = true;
    variant.SetLadder(prepared.lanes.front()->ladder());
    variant.metrics = std::make_unique<VariantMetrics>(
        metrics_, served->labels,
        VariantText(model.model->signature(), prepared.key), variant.ladder,
        served->batch().max_variants);
    variant.lanes = std::move(prepared.lanes);
    served->lane_count =
        std::max(served->lane_count, static_cast<int>(variant.lanes.size()));
  }
  WakeUp wake = WakeUp::kNone;
  {
    absl::MutexLock lock(&mu_);
    if (lanes_.size() < static_cast<size_t>(served->lane_count)) {
      lanes_.resize(static_cast<size_t>(served->lane_count));
      wake = Notify();  // a lane to run on, for those that wait
    }
    variants_.AddAll(*served);
    models_[model.model->uid()] = std::move(served);
  }
  Wake(wake);
  ShowMemory();
}

void WorkerImpl::Remove(uint64_t uid) {
  bool removed = false;
  WakeUp wake = WakeUp::kNone;
  EndedTasks ended;
  {
    absl::MutexLock lock(&mu_);
    const auto it = models_.find(uid);
    if (it == models_.end() || it->second->removing) return;
    Served& served = *it->second;
    served.removing = true;
    served.removed = &removed;
    leaving_.push_back(uid);
    Withdraw(
        served,
        absl::UnavailableError(absl::StrCat(served.text, " is being unloaded")),
        ended);
    wake = Notify();
  }
  Wake(wake);
  const int64_t answered = Answer(ended);
  {
    absl::MutexLock lock(&mu_);
    accepted_ -= answered;
    mu_.Await(absl::Condition(&removed));
  }
  ShowMemory();
}

AdmissionView WorkerImpl::ViewForAdmission(Variant& variant, int64_t rows_ahead,
                                           absl::Time now) {
  absl::Time free = absl::InfiniteFuture();
  for (const Lane& lane : lanes_) free = std::min(free, lane.free_at);
  return {.ladder = variant.ladder,
          .slo = variant.served.batch().slo,
          .rows_ahead = rows_ahead,
          .arrival_rate = variant.queue.arrival_rate(now),
          .device_busy = std::max(absl::ZeroDuration(), free - now)};
}

absl::Status WorkerImpl::Admitted(Variant& variant, InferTask& task,
                                  absl::Time now) {
  if (!variant.ready() || !variant.served.batch().slo.has_value()) {
    return absl::OkStatus();
  }
  const AdmissionView view =
      ViewForAdmission(variant, variant.queue.RowsBefore(task, now), now);
  switch (Admit(view, task.rows, task.deadline, now)) {
    case Admission::kAdmitted:
      return absl::OkStatus();
    case Admission::kTooLate:
      return absl::DeadlineExceededError(
          "the request cannot be answered within its deadline");
    case Admission::kOverloaded:
      return WithRetryAfter(
          absl::ResourceExhaustedError(
              "overloaded: the request would miss its deadline in the queue"),
          EstimatedWait(view));
  }
  return absl::OkStatus();
}

absl::Status WorkerImpl::Accept(uint64_t uid, InferTask& task,
                                Effects& effects) {
  if (!lost_.ok()) return lost_;
  if (stopping_) return absl::UnavailableError("server is shutting down");
  const auto it = models_.find(uid);
  if (it == models_.end() || it->second->removing) {
    return absl::UnavailableError(absl::StrCat(
        "the model is no longer served by device ", metrics_.device()));
  }
  Served& served = *it->second;
  if (task.rows < 1 || task.rows > served.max_rows) {
    return absl::InvalidArgumentError(
        absl::StrCat(served.text, ": request has a batch of ", task.rows,
                     ", the maximum is ", served.max_rows));
  }
  absl::StatusOr<Variant*> found = variants_.FindOrAdd(served, task.variant);
  if (!found.ok()) return Annotate(found.status(), served.text);
  Variant& variant = **found;
  // A variant for which nobody waits after all is forgotten by the loader.
  effects.build = !variant.ready() && !variant.building;
  if (variant.ready() && !variant.HasRoom(task.rows)) {
    const absl::Status wanted =
        VariantTable::WantRungs(variant, task.rows, effects.build);
    if (!wanted.ok()) return Annotate(wanted, served.text);
  }
  const absl::Time now = clock_.Now();
  const absl::Status admitted = Admitted(variant, task, now);
  if (!admitted.ok()) return Annotate(admitted, served.text);
  const absl::Duration cost = variant.row_cost * task.rows;
  absl::Status queued = variant.queue.Offer(task, now, cost);
  if (absl::IsResourceExhausted(queued)) {
    queued = WithRetryAfter(std::move(queued),
                            variant.ready()
                                ? EstimatedWait(ViewForAdmission(
                                      variant, variant.queue.rows(), now))
                                : kRetryWithoutTimes);
  }
  if (!queued.ok()) return Annotate(queued, served.text);
  ++accepted_;
  outstanding_ns_.fetch_add(absl::ToInt64Nanoseconds(cost),
                            std::memory_order_relaxed);
  if (MustWakeFor(variant, task, now)) {
    if (MayRunInline(variant, task, now)) {
      effects.run_inline = true;
      effects.next = DecideInline(now);
    } else {
      effects.wake = Notify();
    }
  }
  if (effects.next == nullptr) ShowQueue(served);
  return absl::OkStatus();
}

absl::Status WorkerImpl::Offer(uint64_t uid, InferTask& task) {
  Effects effects;
  absl::Status status;
  {
    absl::MutexLock lock(&mu_);
    status = Accept(uid, task, effects);
  }
  if (effects.run_inline) RunInline(effects.next);
  Wake(effects.wake);
  if (effects.build) builder_.Request();
  return status;
}

// Whether the worker, if it waits, has to look at `task` before its time:
// waking it costs both threads, so everything that can wait for what it waits
// for anyway does.
bool WorkerImpl::MustWakeFor(Variant& variant, const InferTask& task,
                             absl::Time now) {
  if (!parked_) return false;
  BatchQueue& queue = variant.queue;
  if (queue.next_event() < wait_until_) return true;  // expires before
  if (!variant.ready() || slot_wanted_) return false;
  if (decide_after_ == absl::InfiniteFuture()) return false;  // no lane is open
  const BatchConfig& batch = variant.served.batch();
  const int64_t after = queue.rows();
  const int64_t before = after - task.rows;
  const int64_t full = variant.ladder.back().rows;
  const bool fills = before < full && full <= after;
  const bool first_come = queue.waiting().front().level == 0;
  if (fills && first_come && !batch.slo.has_value()) {
    return true;  // it is gathered while another runs
  }
  if (decide_after_ > now) return false;  // the worker's timer is set for it
  if (queue.waiting().front().task == &task) return true;
  if (batch.max_queue_delay <= absl::ZeroDuration()) return false;
  if (fills || batch.slo.has_value()) return true;
  return std::any_of(batch.preferred_sizes.begin(), batch.preferred_sizes.end(),
                     [&](int size) { return before < size && size <= after; });
}

// Whether the caller shall run `task`, which has just been queued, itself: it
// is all that there is to do, and done sooner than the worker would wake up.
// Not when one request follows the other: then batches are better.
bool WorkerImpl::MayRunInline(Variant& variant, const InferTask& task,
                              absl::Time now) {
  if (!parked_ || in_device_ || now - rests_since_ < kRest) return false;
  if (!variant.ready() || variant.queue.waiting().size() != 1) return false;
  if (variant.served.batch().max_queue_delay > absl::ZeroDuration()) {
    return false;
  }
  const bool alone = accepted_ == 1 && decide_after_ == absl::InfinitePast();
  return alone && variant.lanes.front()->RunsInline(task.rows);
}

WorkerImpl::WakeUp WorkerImpl::Notify() {
  if (running_inline_) look_again_ = true;
  if (!std::exchange(parked_, false)) return WakeUp::kNone;
  return in_device_ ? WakeUp::kDevice : WakeUp::kThread;
}

void WorkerImpl::ShowQueue(Served& served) {
  served.metrics.queue_requests->Set(
      static_cast<double>(served.bounds.requests()));
  served.metrics.queue_bytes->Set(static_cast<double>(served.bounds.bytes()));
}

void WorkerImpl::End(const Waiting& waiting, absl::Status status,
                     EndedTasks& ended) {
  outstanding_ns_.fetch_sub(absl::ToInt64Nanoseconds(waiting.cost),
                            std::memory_order_relaxed);
  StageTimes times;
  times.arrival = waiting.task->arrival;
  times.enqueued = waiting.enqueued;
  ended.push_back({waiting.task, std::move(status), times});
}

int64_t WorkerImpl::Answer(EndedTasks& ended) {
  const auto count = static_cast<int64_t>(ended.size());
  for (Ended& task : ended) {
    TaskResult result;
    result.status = std::move(task.status);
    result.times = task.times;
    task.task->Complete(std::move(result));
  }
  ended.clear();
  return count;
}

void WorkerImpl::Cancel(uint64_t uid, InferTask& task) {
  Effects effects;
  EndedTasks ended;
  {
    absl::MutexLock lock(&mu_);
    const auto it = models_.find(uid);
    if (it == models_.end()) return;
    Served& served = *it->second;
    const absl::Status status = absl::CancelledError("cancelled by the caller");
    for (const std::unique_ptr<Variant>& variant : served.variants) {
      const auto waiting = variant->queue.Remove(task);
      if (!waiting.has_value()) continue;
      End(*waiting, status, ended);
      // Those that were not shown behind it may run, and its variant may be
      // idle now, or needed later than one that is to be made.
      const bool hides = served.batch().preserve_ordering || variant->partial;
      if (hides) effects.wake = Notify();
      effects.build = variants_.room_wanted();
      break;
    }
    if (ended.empty() && LeaveBatch(served, &task, status, ended)) {
      effects.wake = Notify();  // a staged batch may have lost its last request
    }
    ShowQueue(served);
  }
  Wake(effects.wake);
  if (effects.build) builder_.Request();
  if (ended.empty()) return;
  const int64_t answered = Answer(ended);
  absl::MutexLock lock(&mu_);
  accepted_ -= answered;
}

// Takes `task`, or all tasks of `served` if it is null, out of the batches that
// are not submitted. While a batch is gathered its tasks' bytes are being read:
// then the worker answers them as soon as that is done.
bool WorkerImpl::LeaveBatch(Served& served, const InferTask* task,
                            const absl::Status& status, EndedTasks& ended) {
  bool found = false;
  const auto leave = [&](BatchRun* run) {
    if (run == nullptr || &run->variant->served != &served) return;
    for (BatchRun::Member& member : run->members) {
      if (!member.live || (task != nullptr && member.waiting.task != task)) {
        continue;
      }
      found = true;
      if (run->state == BatchState::kGathering) {
        if (member.leaves.ok()) member.leaves = status;
        continue;
      }
      member.live = false;
      served.bounds.Leave(*member.waiting.task);
      End(member.waiting, status, ended);
    }
  };
  leave(gathering_);
  for (const Lane& lane : lanes_) leave(lane.staged);
  return found;
}

void WorkerImpl::Withdraw(Served& served, const absl::Status& status,
                          EndedTasks& ended) {
  for (const std::unique_ptr<Variant>& variant : served.variants) {
    for (const Waiting& waiting : variant->queue.waiting()) {
      End(waiting, status, ended);
    }
    variant->queue.Clear();
  }
  LeaveBatch(served, nullptr, status, ended);
  ShowQueue(served);
}

bool WorkerImpl::Stop(absl::Time deadline) {
  WakeUp wake = WakeUp::kNone;
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
    wake = Notify();  // nobody waits for company any more
  }
  Wake(wake);
  EndedTasks ended;
  {
    absl::MutexLock lock(&mu_);
    if (clock_.Await(mu_, absl::Condition(this, &WorkerImpl::AllAnswered),
                     deadline)) {
      return true;
    }
    const absl::Status status = absl::UnavailableError(
        "server is shutting down: its time to finish is over");
    for (const auto& [uid, served] : models_) Withdraw(*served, status, ended);
    AbandonRuns(status, ended);
    wake = Notify();
  }
  Wake(wake);
  const int64_t answered = Answer(ended);
  absl::MutexLock lock(&mu_);
  accepted_ -= answered;
  clock_.Await(mu_, absl::Condition(this, &WorkerImpl::AllAnswered),
               clock_.Now() + kLastAnswers);
  return false;
}

WorkerLoad WorkerImpl::load() const {
  const int64_t stuck_at = stuck_at_ns_.load(std::memory_order_relaxed);
  const bool stuck = stuck_at != std::numeric_limits<int64_t>::max() &&
                     absl::ToUnixNanos(clock_.Now()) > stuck_at;
  return {.outstanding = absl::Nanoseconds(
              outstanding_ns_.load(std::memory_order_relaxed)),
          .stuck = stuck,
          .lost = losing_.load()};
}

}  // namespace reprise
