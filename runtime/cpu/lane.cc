#include "runtime/cpu/lane.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/prepare/slot_layout.h"

namespace reprise::cpu {
namespace {

void Pad(HostSlot& slot, int rows, int rung) {
  const SlotLayout& layout = slot.layout();
  for (size_t k = 0; k < layout.inputs.size(); ++k) {
    const size_t row = layout.inputs[k].row_bytes;
    std::byte* const data = slot.buffers().inputs[k];
    for (int r = rows; r < rung; ++r) {
      std::copy_n(data, row, data + static_cast<size_t>(r) * row);
    }
  }
}

}  // namespace

void RunBoard::Begin(HostSlot& slot) {
  absl::MutexLock lock(&mu_);
  slot.run = {};
  slot.run.running = true;
}

void RunBoard::Finish(HostSlot& slot, absl::Status status,
                      const RunTimes& times) {
  absl::MutexLock lock(&mu_);
  slot.run.running = true;
  slot.run.done = true;
  slot.run.status = std::move(status);
  slot.run.times = times;
}

absl::StatusOr<RunTimes> RunBoard::Take(HostSlot& slot) {
  slot.run.running = false;
  slot.run.done = false;
  if (!slot.run.status.ok()) return slot.run.status;
  return slot.run.times;
}

absl::StatusOr<RunTimes> RunBoard::Wait(HostSlot& slot, absl::Time deadline) {
  absl::MutexLock lock(&mu_);
  if (!slot.run.running) {
    return absl::FailedPreconditionError("nothing was submitted in this slot");
  }
  const auto ready = [this, &slot]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return slot.run.done || woken_;
  };
  clock_.Await(mu_, absl::Condition(&ready), deadline);
  const bool woken = std::exchange(woken_, false);
  if (slot.run.done) return Take(slot);
  if (woken) return absl::AbortedError("woken");
  return absl::DeadlineExceededError("the run goes on");
}

absl::StatusOr<RunTimes> RunBoard::Await(HostSlot& slot) {
  absl::MutexLock lock(&mu_);
  mu_.Await(absl::Condition(&slot.run.done));
  return Take(slot);
}

void RunBoard::Wake() {
  absl::MutexLock lock(&mu_);
  woken_ = true;
}

absl::StatusOr<std::unique_ptr<Lane>> Lane::Create(int index,
                                                   int64_t arena_bytes,
                                                   RunBoard& board,
                                                   Clock& clock) {
  REPRISE_ASSIGN_OR_RETURN(std::unique_ptr<Arena> arena,
                           Arena::Create(arena_bytes));
  REPRISE_ASSIGN_OR_RETURN(std::shared_ptr<OneDnn> dnn, OneDnn::Create());
  return absl::WrapUnique(
      new Lane(index, std::move(arena), std::move(dnn), board, clock));
}

Lane::Lane(int index, std::unique_ptr<Arena> arena, std::shared_ptr<OneDnn> dnn,
           RunBoard& board, Clock& clock)
    : board_(board),
      clock_(clock),
      arena_(std::move(arena)),
      dnn_(std::move(dnn)),
      queue_(kQueue),
      thread_(absl::StrCat("cpu-lane-", index), [this] { Loop(); }) {}

Lane::~Lane() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
    work_.Signal();
  }
  thread_.Join();
}

absl::Status Lane::Submit(const Job& job) {
  absl::MutexLock lock(&mu_);
  if (count_ == kQueue) {
    return absl::ResourceExhaustedError("too many runs wait for the lane");
  }
  queue_[(first_ + count_) % kQueue] = job;
  ++count_;
  work_.Signal();
  return absl::OkStatus();
}

bool Lane::TryRun(const Job& job) {
  {
    absl::MutexLock lock(&mu_);
    if (busy_ || count_ > 0) return false;
    busy_ = true;
  }
  Execute(job);
  absl::MutexLock lock(&mu_);
  busy_ = false;
  if (HasWork()) work_.Signal();
  return true;
}

void Lane::Loop() {
  for (;;) {
    Job job;
    {
      absl::MutexLock lock(&mu_);
      while (!HasWork()) work_.Wait(&mu_);
      if (count_ == 0 || busy_) return;  // stopping, and nothing is left
      job = queue_[first_];
      first_ = (first_ + 1) % kQueue;
      --count_;
      busy_ = true;
    }
    Execute(job);
    absl::MutexLock lock(&mu_);
    busy_ = false;
  }
}

void Lane::Execute(const Job& job) {
  const absl::Time begun = clock_.Now();
  absl::Time ready = begun;
  if (job.rows < job.rung) {
    Pad(*job.slot, job.rows, job.rung);
    ready = clock_.Now();
  }
  absl::Status status = job.runner->Run(job.slot->buffers());
  RunTimes times;
  times.copy_in = ready - begun;
  times.graph = clock_.Now() - ready;
  times.graph_begun = ready - absl::UnixEpoch();
  board_.Finish(*job.slot, std::move(status), times);
}

}  // namespace reprise::cpu
