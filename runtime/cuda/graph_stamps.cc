#include "runtime/cuda/graph_stamps.h"

#include <cstring>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/kernels/params.h"
#include "runtime/cuda/stream.h"

namespace reprise::cuda {

static_assert(GraphStamps::kKept == kernels::kStampRing);

absl::StatusOr<std::unique_ptr<GraphStamps>> GraphStamps::Create(
    const CurrentContext& current, Modules& modules) {
  auto stamps = absl::WrapUnique(new GraphStamps(current.driver()));
  REPRISE_ASSIGN_OR_RETURN(stamps->begin_,
                           modules.Find(current, "reprise_stamp_begin", 0));
  REPRISE_ASSIGN_OR_RETURN(stamps->end_,
                           modules.Find(current, "reprise_stamp_end", 0));
  REPRISE_ASSIGN_OR_RETURN(
      stamps->state_,
      DeviceBuffer::Allocate(current, sizeof(kernels::StampState)));
  REPRISE_ASSIGN_OR_RETURN(
      stamps->ring_,
      PinnedBuffer::Allocate(current, kKept * sizeof(kernels::Stamp)));
  REPRISE_ASSIGN_OR_RETURN(const UniqueStream stream, MakeStream(current));
  const Driver& driver = current.driver();
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver,
               driver.MemsetD8Async(stamps->state_.address(), 0,
                                    sizeof(kernels::StampState), stream.get()),
               "clearing the stamps of graphs"));
  REPRISE_RETURN_IF_ERROR(ToStatus(driver,
                                   driver.StreamSynchronize(stream.get()),
                                   "clearing the stamps of graphs"));
  return stamps;
}

absl::Status GraphStamps::Begin(CUstream stream) const {
  return Launch(begin_, stream);
}

absl::Status GraphStamps::End(CUstream stream) const {
  return Launch(end_, stream);
}

absl::Status GraphStamps::Launch(CUfunction kernel, CUstream stream) const {
  CUlaunchConfig config = {};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  CUdeviceptr state = state_.address();
  std::byte* ring = ring_.data();
  void* arguments[] = {&state, &ring};  // the first kernel takes the first
  return ToStatus(driver_,
                  driver_.LaunchKernelEx(&config, kernel, arguments, nullptr),
                  "the stamp of a graph");
}

absl::StatusOr<GraphStamps::Span> GraphStamps::Of(uint64_t replay) const {
  kernels::Stamp stamp;
  std::memcpy(&stamp, ring_.data() + replay % kKept * sizeof(stamp),
              sizeof(stamp));
  if (stamp.replay != replay || stamp.ended == 0) {
    return absl::InternalError(absl::StrCat(
        "replay ", replay, " has left no time: its place has ", stamp.replay));
  }
  return Span{.begun = absl::Nanoseconds(static_cast<int64_t>(stamp.begun)),
              .took = absl::Nanoseconds(
                  static_cast<int64_t>(stamp.ended - stamp.begun))};
}

}  // namespace reprise::cuda
