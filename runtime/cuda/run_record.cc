#include "runtime/cuda/run_record.h"

#include <cstddef>
#include <utility>

#include "runtime/base/status_macros.h"

namespace reprise::cuda {
namespace {

absl::StatusOr<UniqueEvent> MakeEvent(const CurrentContext& current,
                                      unsigned flags) {
  const Driver& driver = current.driver();
  CUevent event = nullptr;
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver, driver.EventCreate(&event, flags), "cuEventCreate"));
  return UniqueEvent(event, driver.EventDestroy);
}

absl::StatusOr<absl::Duration> Between(const Driver& driver, CUevent begin,
                                       CUevent end) {
  float milliseconds = 0;
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver, driver.EventElapsedTime(&milliseconds, begin, end),
               "cuEventElapsedTime"));
  return absl::Milliseconds(milliseconds);
}

}  // namespace

absl::StatusOr<RunRecord> RunRecord::Create(const CurrentContext& current) {
  RunRecord run;
  for (UniqueEvent* timed :
       {&run.in_begin, &run.in_end, &run.out_begin, &run.out_end}) {
    REPRISE_ASSIGN_OR_RETURN(*timed, MakeEvent(current, CU_EVENT_DEFAULT));
  }
  for (UniqueEvent* untimed : {&run.graph_end, &run.done}) {
    REPRISE_ASSIGN_OR_RETURN(*untimed,
                             MakeEvent(current, CU_EVENT_DISABLE_TIMING));
  }
  return run;
}

absl::StatusOr<RunTimes> TimesOf(const Driver& driver,
                                 const GraphStamps& stamps,
                                 const RunRecord& run) {
  RunTimes times;
  REPRISE_ASSIGN_OR_RETURN(const GraphStamps::Span graph,
                           stamps.Of(run.replay));
  times.graph = graph.took;
  times.graph_begun = graph.begun;
  if (!run.copies_timed) return times;
  REPRISE_ASSIGN_OR_RETURN(
      times.copy_in, Between(driver, run.in_begin.get(), run.in_end.get()));
  REPRISE_ASSIGN_OR_RETURN(
      times.copy_out, Between(driver, run.out_begin.get(), run.out_end.get()));
  return times;
}

absl::Status RunRecords::Add(const CurrentContext& current, int count) {
  for (int i = 0; i < count; ++i) {
    REPRISE_ASSIGN_OR_RETURN(RunRecord run, RunRecord::Create(current));
    absl::MutexLock lock(&mu_);
    records_.push_back(std::move(run));
  }
  return absl::OkStatus();
}

RunRecord& RunRecords::At(int slot) {
  absl::MutexLock lock(&mu_);
  return records_[static_cast<size_t>(slot)];
}

void Attention::Wake() {
  absl::MutexLock lock(&mu_);
  woken_ = true;
}

bool Attention::Take() {
  absl::MutexLock lock(&mu_);
  return std::exchange(woken_, false);
}

void Attention::Rest(absl::Time until) {
  absl::MutexLock lock(&mu_);
  clock_.Await(mu_, absl::Condition(&woken_), until);
}

}  // namespace reprise::cuda
