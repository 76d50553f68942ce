#include <sys/prctl.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "runtime/base/status.h"
#include "runtime/worker/worker_impl.h"

namespace reprise {
namespace {

// From the moment a batch is decided until the device has it, its gathering
// apart: a wake-up of this thread and the launch.
constexpr absl::Duration kHandOver = absl::Microseconds(100);

// How often a lane is looked at whose run is over by the clock and not by the
// device, while another lane runs.
constexpr absl::Duration kLanePoll = absl::Microseconds(100);

// How long to wait for a slot that somebody else than this worker holds.
constexpr absl::Duration kSlotPoll = absl::Milliseconds(1);

// How often load figures are brought up to date while there is any load.
constexpr absl::Duration kLoadPeriod = absl::Milliseconds(100);

// Shows no more than the first `count` requests.
void ShowFirst(size_t count, QueueView& view) {
  view.waiting = view.waiting.first(count);
  view.rows = 0;
  for (const Waiting& waiting : view.waiting) view.rows += waiting.rows;
}

}  // namespace

void WorkerImpl::Serve(const DeviceFactory& factory) {
  // Timers of this thread are to fire when they are due, not up to 50 us later.
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  absl::StatusOr<std::unique_ptr<Device>> device = factory();
  if (device.ok()) {
    device_ = device->get();
    steps_ = device_->load_steps();
    if (device_metrics_.has_value()) {
      device_->Observe(&*device_metrics_);
      if (steps_ != nullptr) steps_->Observe(&*device_metrics_);
    }
    if (steps_ != nullptr) steps_->Open([this] { LookAgain(); });
  }
  {
    absl::MutexLock lock(&mu_);
    made_ = true;
    made_status_ = device.status();
  }
  if (!device.ok()) return;
  while (Step()) {
  }
  if (steps_ != nullptr) steps_->Close();
}

// Finishes what is done, then does the one most urgent thing or waits. False
// when the worker has come to its end.
bool WorkerImpl::Step() {
  FinishRuns();
  BatchRun* next = nullptr;
  BatchRun* awaited = nullptr;
  absl::Time until;
  bool room = false;
  bool rest = false;
  {
    absl::MutexLock lock(&mu_);
    parked_ = in_device_ = false;
    accepted_ -= std::exchange(step_.answered, 0);
    const absl::Time now = clock_.Now();
    Tidy(now);
    CollectRemoved();
    UpdateLoads(now);
    next = StagedDue(now);
    if (next == nullptr) next = DecideNext(now);
    room = std::exchange(step_.room, false);
    if (next == nullptr) GrantStep(now);
    if (next == nullptr && step_.ended.empty() && to_destroy_.empty() &&
        !room) {
      if (quit_ && models_.empty()) {
        mu_.Await(absl::Condition(this, &WorkerImpl::NobodyWakes));
        return false;
      }
      awaited = Park(now, until);
      rest = awaited == nullptr;
    }
  }
  if (rest) {
    Rest(until);
    return true;
  }
  step_.answered += Answer(step_.ended);
  DestroyCollected();
  if (room) builder_.Request();
  if (next != nullptr) Execute(*next);
  if (awaited != nullptr) AwaitRun(*awaited, until);
  return true;
}

bool WorkerImpl::NobodyWakes() const { return waking_ == 0; }

void WorkerImpl::Tidy(absl::Time now) {
  step_.next_expiry = absl::InfiniteFuture();
  for (Variant* variant : variants_.all()) {
    if (!variant->next.lanes.empty() && !OnDevice(*variant)) {
      TakeOver(*variant);
    }
    BatchQueue& queue = variant->queue;
    if (queue.empty()) continue;
    if (queue.next_event() <= now) {
      step_.taken.clear();
      queue.Tidy(now, step_.taken);
      Served& served = variant->served;
      for (const Waiting& expired : step_.taken) {
        End(expired,
            Annotate(ExpiredStatus(expired, served.bounds, now), served.text),
            step_.ended);
      }
      ShowQueue(served);
      step_.room =
          step_.room || variants_.room_wanted();  // its variant may be idle now
    }
    step_.next_expiry = std::min(step_.next_expiry, queue.next_event());
  }
  for (const Lane& lane : lanes_) {
    if (lane.staged == nullptr) continue;
    Settle(*lane.staged, now);
    for (const BatchRun::Member& member : lane.staged->members) {
      if (!member.live) continue;
      step_.next_expiry = std::min(step_.next_expiry, member.waiting.expiry);
    }
  }
}

// Models that are leaving and for which nothing runs any more.
void WorkerImpl::CollectRemoved() {
  for (size_t i = 0; i < leaving_.size();) {
    const auto it = models_.find(leaving_[i]);
    Served& served = *it->second;
    if (served.runs > 0 || served.building) {
      ++i;
      continue;
    }
    variants_.RemoveAll(served);
    to_destroy_.Add(std::move(it->second));
    models_.erase(it);
    leaving_.erase(leaving_.begin() + static_cast<ptrdiff_t>(i));
  }
}

// A gathered batch whose lane has run dry, or will by the time it has been
// handed over; or one that has lost all of its requests.
BatchRun* WorkerImpl::StagedDue(absl::Time now) {
  for (Lane& lane : lanes_) {
    if (lane.staged == nullptr) continue;
    if (lane.staged->live_members() > 0 && !MaySubmit(*lane.staged, now)) {
      continue;
    }
    gathering_ = std::exchange(lane.staged, nullptr);
    return gathering_;
  }
  return nullptr;
}

void WorkerImpl::LookAgain() {
  const absl::Status fault = steps_->fault();
  if (!fault.ok()) Lose(fault);
  WakeUp wake = WakeUp::kNone;
  {
    absl::MutexLock lock(&mu_);
    wake = Notify();
  }
  Wake(wake);
}

// From when on a step may begin: while batches come, loaders have no more than
// their share of the device's time.
absl::Time WorkerImpl::StepsFrom() const {
  if (!batches_since_step_) return absl::InfinitePast();
  const LoadSteps::Last last = steps_->last();
  return last.end + last.took * (1 / options_.load_share - 1);
}

// Whether batches wait for a step of a loader: for one that runs, or for the
// next one, whose turn it is after a batch.
bool WorkerImpl::StepFirst(absl::Time now) const {
  if (steps_ == nullptr) return false;
  return steps_->running() ||
         (steps_turn_ && steps_->wanted() && now >= StepsFrom());
}

// There is no batch to submit: a loader may have the device if it is idle.
void WorkerImpl::GrantStep(absl::Time now) {
  if (steps_ == nullptr || !step_.in_flight.empty() || !steps_->wanted() ||
      steps_->running() || now < StepsFrom()) {
    return;
  }
  steps_->Grant();
  steps_turn_ = batches_since_step_ = false;
}

bool WorkerImpl::MaySubmit(const BatchRun& run, absl::Time now) const {
  if (StepFirst(now)) return false;
  const Lane& lane = lanes_[static_cast<size_t>(run.lane)];
  return lane.running.empty() || lane.free_at - now <= kHandOver;
}

QueueView WorkerImpl::ViewOf(Variant& variant, absl::Time now) {
  const BatchConfig& batch = variant.served.batch();
  BatchQueue& queue = variant.queue;
  QueueView view;
  view.waiting = queue.waiting();
  view.rows = queue.rows();
  view.oldest = queue.oldest();
  view.last_run = variant.last_run;
  view.ladder = variant.ladder;
  view.arrival_rate =
      batch.slo.has_value() ? queue.arrival_rate(now) : 0;  // unused without
  view.slo = batch.slo;
  view.max_delay = batch.max_queue_delay;
  view.preferred = batch.preferred_sizes;
  view.batching = batch.dynamic_batching;
  view.keep_order = batch.preserve_ordering;
  view.lead = kHandOver + absl::Nanoseconds(static_cast<double>(queue.bytes()) *
                                            step_.gather_ns_per_byte);
  view.lanes = static_cast<int>(variant.lanes.size());
  if (view.keep_order) ShowInOrder(variant, view);
  if (!variant.HasRoom(variant.served.max_rows)) ShowFitting(variant, view);
  return view;
}

// Replies in order of arrival need batches in order of arrival, over all
// variants of the model: nobody is shown who came after one that waits in
// another queue.
void WorkerImpl::ShowInOrder(const Variant& variant, QueueView& view) {
  uint64_t first = std::numeric_limits<uint64_t>::max();
  for (const std::unique_ptr<Variant>& other : variant.served.variants) {
    if (other.get() == &variant || other->queue.empty()) continue;
    first = std::min(first, other->queue.waiting().front().sequence);
  }
  size_t count = 0;
  while (count < view.waiting.size() && view.waiting[count].sequence < first) {
    ++count;
  }
  ShowFirst(count, view);
}

// A request that waits for a rung to be prepared is not passed over: whoever
// comes behind it waits, too.
void WorkerImpl::ShowFitting(const Variant& variant, QueueView& view) {
  size_t count = 0;
  while (count < view.waiting.size() &&
         variant.HasRoom(view.waiting[count].rows)) {
    ++count;
  }
  ShowFirst(count, view);
}

void WorkerImpl::ShowLanes() {
  step_.lane_views.clear();
  for (const Lane& lane : lanes_) {
    step_.lane_views.push_back(
        {.free_at = lane.free_at,
         .submitted = static_cast<int>(lane.running.size()),
         .staged = lane.staged != nullptr});
  }
}

BatchRun* WorkerImpl::DecideNext(absl::Time now) {
  step_.views.clear();
  step_.viewed.clear();
  slot_wanted_ = false;
  step_.decision.ask_again = absl::InfiniteFuture();
  for (Variant* variant : variants_.all()) {
    if (variant->queue.empty() || !variant->ready()) continue;
    if (!variant->next.lanes.empty()) continue;  // until it is taken over
    step_.views.push_back(ViewOf(*variant, now));
    step_.viewed.push_back(variant);
  }
  if (step_.views.empty()) return nullptr;
  ShowLanes();
  Decide(
      {.queues = step_.views, .lanes = step_.lane_views, .draining = stopping_},
      now, step_.decision);
  SlotLease slot;
  if (step_.decision.queue >= 0) {
    Variant& variant = *step_.viewed[static_cast<size_t>(step_.decision.queue)];
    slot =
        variant.lanes[static_cast<size_t>(step_.decision.lane)]->AcquireSlot();
    slot_wanted_ = !slot;
  }
  return TakeBatch(std::move(slot), now);
}

absl::Time WorkerImpl::NextTimer(absl::Time now) {
  absl::Time until = std::min(step_.next_expiry, next_load_update_);
  if (!slot_wanted_) until = std::min(until, step_.decision.ask_again);
  if (slot_wanted_ && slots_out_ == 0) {
    until = std::min(until, now + kSlotPoll);
  }
  decide_after_ = absl::InfiniteFuture();
  for (const Lane& lane : lanes_) {
    if (lane.staged != nullptr) {
      if (!StepFirst(now)) until = std::min(until, lane.free_at - kHandOver);
    } else if (lane.running.empty()) {
      decide_after_ = absl::InfinitePast();
    } else if (lane.running.size() == 1) {
      decide_after_ = std::min(decide_after_, lane.free_at - kHandOver);
    }
  }
  if (decide_after_ > now) until = std::min(until, decide_after_);
  if (steps_ != nullptr && step_.in_flight.empty() && steps_->wanted() &&
      !steps_->running()) {
    until = std::min(until, std::max(now, StepsFrom()));
  }
  return until;
}

BatchRun* WorkerImpl::Park(absl::Time now, absl::Time& until) {
  until = NextTimer(now);
  BatchRun* first = nullptr;
  absl::Time first_end = absl::InfiniteFuture();
  absl::Time second_end = absl::InfiniteFuture();
  for (const Lane& lane : lanes_) {
    if (lane.running.empty()) continue;
    BatchRun* run = lane.running.front();
    const absl::Time end =
        std::min(lane.free_at,
                 run->started +
                     run->variant->ladder[static_cast<size_t>(run->rung)].p50);
    if (first == nullptr || end < first_end) {
      if (first != nullptr) second_end = std::min(second_end, first_end);
      first = run;
      first_end = end;
    } else {
      second_end = std::min(second_end, end);
    }
  }
  if (second_end != absl::InfiniteFuture()) {
    until = std::min(until, std::max(second_end, now + kLanePoll));
  }
  wait_until_ = until;
  parked_ = true;
  in_device_ = first != nullptr;
  if (first == nullptr) rests_since_ = now;
  return first;
}

void WorkerImpl::Rest(absl::Time until) {
  {
    // A timer wakes this thread some 50 us late: it is set as much earlier, and
    // the rest is spent in looking at the clock.
    const absl::Duration early = clock_.Lateness();
    absl::MutexLock lock(&rest_mu_);
    if (until - clock_.Now() > early) {
      clock_.Await(rest_mu_, absl::Condition(&woken_), until - early);
    }
    woken_ = false;
  }
  absl::MutexLock lock(&mu_);
  mu_.Await(absl::Condition(this, &WorkerImpl::NotRunningInline));
  parked_ = false;
}

// What Accept has found to be all there is, on the thread that offers it: from
// now on that takes the worker's steps.
BatchRun* WorkerImpl::DecideInline(absl::Time now) {
  parked_ = false;
  running_inline_ = true;
  Tidy(now);
  UpdateLoads(now);
  return DecideNext(now);
}

// The worker stays parked unless there is more to do than `next`.
void WorkerImpl::RunInline(BatchRun* next) {
  step_.answered += Answer(step_.ended);
  if (next != nullptr) Execute(*next);
  FinishRuns();
  WakeUp wake = WakeUp::kNone;
  {
    absl::MutexLock lock(&mu_);
    accepted_ -= std::exchange(step_.answered, 0);
    running_inline_ = false;
    rests_since_ = clock_.Now();
    parked_ = true;
    const bool look_again = std::exchange(look_again_, false);
    if (look_again || !NothingLeft(rests_since_)) wake = Notify();
  }
  Wake(wake);
}

// Whether the worker may go on waiting as it does.
bool WorkerImpl::NothingLeft(absl::Time now) {
  const auto waits = [](const Variant* variant) {
    return !variant->queue.empty();
  };
  const std::span<Variant* const> variants = variants_.all();
  return step_.in_flight.empty() && step_.ended.empty() &&
         to_destroy_.empty() && leaving_.empty() && !slot_wanted_ &&
         !step_.room && std::none_of(variants.begin(), variants.end(), waits) &&
         NextTimer(now) >= wait_until_;
}

// Brings load_ratio and estimated_wait up to date, until nothing arrives.
void WorkerImpl::UpdateLoads(absl::Time now) {
  if (next_load_update_ == absl::InfiniteFuture()) {
    if (accepted_ > 0) next_load_update_ = now + kLoadPeriod;
    return;
  }
  if (now < next_load_update_) return;
  bool any = accepted_ > 0;
  for (auto& [uid, served] : models_) {
    double ratio = 0;
    absl::Duration wait;
    for (const std::unique_ptr<Variant>& variant : served->variants) {
      if (!variant->ready()) continue;
      const AdmissionView view =
          ViewForAdmission(*variant, variant->queue.rows(), now);
      ratio += view.arrival_rate * absl::ToDoubleSeconds(variant->row_cost);
      wait = std::max(wait, EstimatedWait(view));
    }
    any = any || ratio > 0;
    served->metrics.load_ratio->Set(ratio);
    served->metrics.estimated_wait->Set(absl::ToDoubleSeconds(wait));
  }
  next_load_update_ = any ? now + kLoadPeriod : absl::InfiniteFuture();
}

}  // namespace reprise
