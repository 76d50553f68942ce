#include "tests/bench/cuda/bare_batch.h"

#include <cstdint>
#include <utility>

#include "absl/memory/memory.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/kernels/params.h"
#include "runtime/cuda/lane.h"

namespace reprise::bench {
namespace {

using cuda::CurrentContext;
using cuda::Driver;
using cuda::ToStatus;

// What the model of one Relu launches, too.
constexpr char kKernel[] = "reprise_relu_f32";
constexpr int64_t kElementsPerThread = 4;
constexpr unsigned kThreads = 256;

absl::StatusOr<cuda::UniqueEvent> MakeEvent(const Driver& driver,
                                            unsigned flags) {
  CUevent event = nullptr;
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver, driver.EventCreate(&event, flags), "cuEventCreate"));
  return cuda::UniqueEvent(event, driver.EventDestroy);
}

}  // namespace

absl::StatusOr<std::unique_ptr<BareLane>> BareLane::Create(
    const CurrentContext& current, cuda::Modules& modules,
    const BareShape& shape) {
  auto lane = absl::WrapUnique(new BareLane(current.driver(), shape));
  REPRISE_ASSIGN_OR_RETURN(lane->compute_, cuda::MakeStream(current));
  REPRISE_ASSIGN_OR_RETURN(lane->copy_in_, cuda::MakeStream(current));
  REPRISE_ASSIGN_OR_RETURN(lane->copy_out_, cuda::MakeStream(current));
  REPRISE_ASSIGN_OR_RETURN(const CUfunction kernel,
                           modules.Find(current, kKernel, 0));
  for (Bank& bank : lane->banks_) {
    REPRISE_RETURN_IF_ERROR(lane->MakeBank(current, kernel, bank));
  }
  return lane;
}

absl::Status BareLane::MakeBank(const CurrentContext& current,
                                CUfunction kernel, Bank& bank) {
  REPRISE_ASSIGN_OR_RETURN(
      bank.in, cuda::PinnedBuffer::Allocate(current, shape_.input_bytes));
  REPRISE_ASSIGN_OR_RETURN(
      bank.out, cuda::PinnedBuffer::Allocate(current, kBareOutputBytes));
  REPRISE_ASSIGN_OR_RETURN(
      bank.data, cuda::DeviceBuffer::Allocate(
                     current, static_cast<int64_t>(shape_.input_bytes)));
  for (cuda::UniqueEvent* event :
       {&bank.copied_in, &bank.graph_begin, &bank.graph_end, &bank.done}) {
    REPRISE_ASSIGN_OR_RETURN(*event, MakeEvent(driver_, CU_EVENT_DEFAULT));
  }
  REPRISE_ASSIGN_OR_RETURN(bank.done_no_time,
                           MakeEvent(driver_, CU_EVENT_DISABLE_TIMING));
  const auto capture = [&](bool copies) -> absl::StatusOr<cuda::CapturedGraph> {
    const auto issue = [&](CUstream stream) -> absl::Status {
      if (copies) REPRISE_RETURN_IF_ERROR(CopyIn(bank, stream));
      REPRISE_RETURN_IF_ERROR(
          IssueKernels(kernel, bank.data.address(), stream));
      return copies ? CopyOut(bank, stream) : absl::OkStatus();
    };
    size_t nodes = 0;
    REPRISE_ASSIGN_OR_RETURN(
        cuda::UniqueGraph graph,
        cuda::Record(current, compute_.get(), issue, {}, &nodes));
    REPRISE_ASSIGN_OR_RETURN(
        cuda::CapturedGraph captured,
        cuda::Instantiate(current, std::move(graph), nodes));
    REPRISE_RETURN_IF_ERROR(ToStatus(
        driver_, driver_.GraphUpload(captured.exec.get(), compute_.get()),
        "cuGraphUpload"));
    return captured;
  };
  REPRISE_ASSIGN_OR_RETURN(bank.beside, capture(false));
  REPRISE_ASSIGN_OR_RETURN(bank.inside, capture(true));
  return ToStatus(driver_, driver_.StreamSynchronize(compute_.get()),
                  "cuGraphUpload");
}

absl::Status BareLane::IssueKernels(CUfunction kernel, CUdeviceptr data,
                                    CUstream stream) const {
  kernels::UnaryParams params;
  params.elements = static_cast<int64_t>(shape_.input_bytes / sizeof(float));
  const int64_t threads =
      (params.elements + kElementsPerThread - 1) / kElementsPerThread;
  CUlaunchConfig config = {};
  config.gridDimX = static_cast<unsigned>((threads + kThreads - 1) / kThreads);
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = kThreads;
  config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  void* arguments[] = {&data, &data, &params};
  for (int i = 0; i < shape_.kernels; ++i) {
    REPRISE_RETURN_IF_ERROR(ToStatus(
        driver_, driver_.LaunchKernelEx(&config, kernel, arguments, nullptr),
        kKernel));
  }
  return absl::OkStatus();
}

absl::Status BareLane::CopyIn(Bank& bank, CUstream stream) const {
  return ToStatus(driver_,
                  driver_.MemcpyHtoDAsync(bank.data.address(), bank.in.data(),
                                          shape_.input_bytes, stream),
                  "copying in");
}

absl::Status BareLane::CopyOut(Bank& bank, CUstream stream) const {
  return ToStatus(driver_,
                  driver_.MemcpyDtoHAsync(bank.out.data(), bank.data.address(),
                                          kBareOutputBytes, stream),
                  "copying out");
}

absl::Status BareLane::Record(const cuda::UniqueEvent& event,
                              CUstream stream) const {
  return ToStatus(driver_, driver_.EventRecord(event.get(), stream),
                  "cuEventRecord");
}

absl::Status BareLane::WaitFor(const cuda::UniqueEvent& event,
                               CUstream stream) const {
  return ToStatus(driver_, driver_.StreamWaitEvent(stream, event.get(), 0),
                  "cuStreamWaitEvent");
}

absl::Status BareLane::Submit(Copies copies, Timing timing) {
  turn_ = (turn_ + 1) % kBanks;
  timing_ = timing;
  Bank& bank = banks_[static_cast<size_t>(turn_)];
  const bool timed = timing == Timing::kGraph;
  const bool streams = copies == Copies::kStreams;
  const CUstream compute = compute_.get();
  const CUstream in = streams ? copy_in_.get() : compute;
  const CUstream out = streams ? copy_out_.get() : compute;
  const cuda::UniqueEvent& done = timed ? bank.done : bank.done_no_time;
  if (streams) REPRISE_RETURN_IF_ERROR(WaitFor(done, in));
  if (copies != Copies::kInside) REPRISE_RETURN_IF_ERROR(CopyIn(bank, in));
  if (streams) {
    REPRISE_RETURN_IF_ERROR(Record(bank.copied_in, in));
    REPRISE_RETURN_IF_ERROR(WaitFor(bank.copied_in, compute));
  }
  if (timed) REPRISE_RETURN_IF_ERROR(Record(bank.graph_begin, compute));
  const cuda::CapturedGraph& graph =
      copies == Copies::kInside ? bank.inside : bank.beside;
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver_, driver_.GraphLaunch(graph.exec.get(), compute),
               "cuGraphLaunch"));
  if (timed || streams) {
    REPRISE_RETURN_IF_ERROR(Record(bank.graph_end, compute));
  }
  if (streams) REPRISE_RETURN_IF_ERROR(WaitFor(bank.graph_end, out));
  if (copies != Copies::kInside) REPRISE_RETURN_IF_ERROR(CopyOut(bank, out));
  return Record(done, out);
}

absl::Status BareLane::Await() {
  const Bank& bank = banks_[static_cast<size_t>(turn_)];
  const bool timed = timing_ == Timing::kGraph;
  const CUevent done = timed ? bank.done.get() : bank.done_no_time.get();
  CUresult result = CUDA_ERROR_NOT_READY;
  while (result == CUDA_ERROR_NOT_READY) result = driver_.EventQuery(done);
  REPRISE_RETURN_IF_ERROR(ToStatus(driver_, result, "cuEventQuery"));
  if (!timed) return absl::OkStatus();
  float milliseconds = 0;
  return ToStatus(
      driver_,
      driver_.EventElapsedTime(&milliseconds, bank.graph_begin.get(),
                               bank.graph_end.get()),
      "cuEventElapsedTime");
}

}  // namespace reprise::bench
