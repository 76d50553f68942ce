#include "runtime/cuda/graph_clock.h"

#include "absl/memory/memory.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/lane.h"

namespace reprise::cuda {
namespace {

// A float of milliseconds has steps of a half microsecond up to 8 s.
constexpr absl::Duration kPeriod = absl::Seconds(4);

absl::StatusOr<absl::Duration> Between(const Driver& driver, CUevent begin,
                                       CUevent end) {
  float milliseconds = 0;
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver, driver.EventElapsedTime(&milliseconds, begin, end),
               "cuEventElapsedTime"));
  return absl::Milliseconds(milliseconds);
}

}  // namespace

absl::StatusOr<std::unique_ptr<GraphClock>> GraphClock::Create(
    const CurrentContext& current) {
  const Driver& driver = current.driver();
  auto clock = absl::WrapUnique(new GraphClock(driver));
  for (Mark& mark : clock->marks_) {
    CUevent event = nullptr;
    REPRISE_RETURN_IF_ERROR(ToStatus(
        driver, driver.EventCreate(&event, CU_EVENT_DEFAULT), "cuEventCreate"));
    mark.event = UniqueEvent(event, driver.EventDestroy);
  }
  REPRISE_ASSIGN_OR_RETURN(const UniqueStream stream, MakeStream(current));
  REPRISE_RETURN_IF_ERROR(ToStatus(
      driver, driver.EventRecord(clock->marks_[0].event.get(), stream.get()),
      "cuEventRecord"));
  REPRISE_RETURN_IF_ERROR(ToStatus(
      driver, driver.StreamSynchronize(stream.get()), "cuStreamSynchronize"));
  return clock;
}

absl::StatusOr<GraphClock::Reference> GraphClock::Acquire(CUstream stream,
                                                          absl::Time now) {
  const Reference other_index = 1 - current_;
  Mark& current = marks_[static_cast<size_t>(current_)];
  Mark& other = marks_[static_cast<size_t>(other_index)];
  if (pending_) {
    const CUresult result = driver_.EventQuery(other.event.get());
    if (result == CUDA_SUCCESS) {
      REPRISE_ASSIGN_OR_RETURN(
          const absl::Duration later,
          Between(driver_, current.event.get(), other.event.get()));
      other.at = current.at + later;
      pending_ = false;
      current_ = other_index;
      ++other.users;
      return current_;
    }
    if (result != CUDA_ERROR_NOT_READY) {
      return ToStatus(driver_, result, "cuEventQuery");
    }
  } else if (now - moved_ >= kPeriod && other.users == 0) {
    REPRISE_RETURN_IF_ERROR(
        ToStatus(driver_, driver_.EventRecord(other.event.get(), stream),
                 "cuEventRecord"));
    pending_ = true;
    moved_ = now;
  }
  ++current.users;
  return current_;
}

void GraphClock::Release(Reference reference) {
  --marks_[static_cast<size_t>(reference)].users;
}

absl::StatusOr<absl::Duration> GraphClock::TimeOf(CUevent event,
                                                  Reference reference) const {
  const Mark& mark = marks_[static_cast<size_t>(reference)];
  REPRISE_ASSIGN_OR_RETURN(const absl::Duration later,
                           Between(driver_, mark.event.get(), event));
  return mark.at + later;
}

}  // namespace reprise::cuda
