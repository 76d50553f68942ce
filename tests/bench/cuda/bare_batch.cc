#include "tests/bench/cuda/bare_batch.h"

#include <dlfcn.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/memory/memory.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/kernels/params.h"
#include "runtime/cuda/stream.h"

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
  REPRISE_ASSIGN_OR_RETURN(lane->stamps_,
                           cuda::GraphStamps::Create(current, modules));
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  lane->record_node_ = reinterpret_cast<decltype(lane->record_node_)>(
      dlsym(library, "cuEventRecordWithFlags"));
  lane->move_node_ = reinterpret_cast<decltype(lane->move_node_)>(
      dlsym(library, "cuGraphExecEventRecordNodeSetEvent"));
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
       {&bank.copied_in, &bank.graph_begin, &bank.graph_end}) {
    REPRISE_ASSIGN_OR_RETURN(*event, MakeEvent(driver_, CU_EVENT_DEFAULT));
  }
  REPRISE_ASSIGN_OR_RETURN(bank.done,
                           MakeEvent(driver_, CU_EVENT_DISABLE_TIMING));
  const auto capture = [&](absl::FunctionRef<absl::Status(CUstream)> issue)
      -> absl::StatusOr<cuda::CapturedGraph> {
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
  for (int timing = 0; timing < kTimings; ++timing) {
    const auto issue = [&](CUstream stream) {
      return IssueTimed(static_cast<Timing>(timing), kernel, bank, stream);
    };
    REPRISE_ASSIGN_OR_RETURN(bank.beside[static_cast<size_t>(timing)],
                             capture(issue));
  }
  REPRISE_RETURN_IF_ERROR(FindNodes(bank));
  const auto inside = [&](CUstream stream) -> absl::Status {
    REPRISE_RETURN_IF_ERROR(CopyIn(bank, stream));
    REPRISE_RETURN_IF_ERROR(IssueKernels(kernel, bank.data.address(), stream));
    return CopyOut(bank, stream);
  };
  REPRISE_ASSIGN_OR_RETURN(bank.inside, capture(inside));
  return ToStatus(driver_, driver_.StreamSynchronize(compute_.get()),
                  "cuGraphUpload");
}

absl::Status BareLane::FindNodes(Bank& bank) const {
  const CUgraph graph =
      bank.beside[static_cast<size_t>(Timing::kMoved)].graph.get();
  size_t count = 0;
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver_, driver_.GraphGetNodes(graph, nullptr, &count),
               "cuGraphGetNodes"));
  std::vector<CUgraphNode> nodes(count);
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver_, driver_.GraphGetNodes(graph, nodes.data(), &count),
               "cuGraphGetNodes"));
  size_t found = 0;
  for (const CUgraphNode node : nodes) {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    REPRISE_RETURN_IF_ERROR(ToStatus(
        driver_, driver_.GraphNodeGetType(node, &type), "cuGraphNodeGetType"));
    if (type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) bank.nodes[found++ % 2] = node;
  }
  return absl::OkStatus();
}

absl::Status BareLane::IssueTimed(Timing timing, CUfunction kernel, Bank& bank,
                                  CUstream stream) const {
  const auto node = [&](const cuda::UniqueEvent& event) {
    return ToStatus(driver_,
                    record_node_(event.get(), stream, CU_EVENT_RECORD_EXTERNAL),
                    "cuEventRecordWithFlags");
  };
  const bool nodes = timing == Timing::kNodes || timing == Timing::kMoved;
  if (nodes) REPRISE_RETURN_IF_ERROR(node(bank.graph_begin));
  if (timing == Timing::kStamps) {
    REPRISE_RETURN_IF_ERROR(stamps_->Begin(stream));
  }
  REPRISE_RETURN_IF_ERROR(IssueKernels(kernel, bank.data.address(), stream));
  if (nodes) return node(bank.graph_end);
  if (timing == Timing::kStamps) return stamps_->End(stream);
  return absl::OkStatus();
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
  const bool around = timing == Timing::kEvents;
  const bool streams = copies == Copies::kStreams;
  const CUstream compute = compute_.get();
  const CUstream in = streams ? copy_in_.get() : compute;
  const CUstream out = streams ? copy_out_.get() : compute;
  if (streams) REPRISE_RETURN_IF_ERROR(WaitFor(bank.done, in));
  if (copies != Copies::kInside) REPRISE_RETURN_IF_ERROR(CopyIn(bank, in));
  if (streams) {
    REPRISE_RETURN_IF_ERROR(Record(bank.copied_in, in));
    REPRISE_RETURN_IF_ERROR(WaitFor(bank.copied_in, compute));
  }
  if (around) REPRISE_RETURN_IF_ERROR(Record(bank.graph_begin, compute));
  const cuda::CapturedGraph& graph =
      copies == Copies::kInside ? bank.inside
                                : bank.beside[static_cast<size_t>(timing)];
  if (timing == Timing::kMoved) {
    REPRISE_RETURN_IF_ERROR(ToStatus(
        driver_,
        move_node_(graph.exec.get(), bank.nodes[0], bank.graph_begin.get()),
        "cuGraphExecEventRecordNodeSetEvent"));
    REPRISE_RETURN_IF_ERROR(ToStatus(
        driver_,
        move_node_(graph.exec.get(), bank.nodes[1], bank.graph_end.get()),
        "cuGraphExecEventRecordNodeSetEvent"));
  }
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver_, driver_.GraphLaunch(graph.exec.get(), compute),
               "cuGraphLaunch"));
  if (timing == Timing::kStamps) replay_ = stamps_->Number();
  if (around || streams) {
    REPRISE_RETURN_IF_ERROR(Record(bank.graph_end, compute));
  }
  if (streams) REPRISE_RETURN_IF_ERROR(WaitFor(bank.graph_end, out));
  if (copies != Copies::kInside) REPRISE_RETURN_IF_ERROR(CopyOut(bank, out));
  return Record(bank.done, out);
}

absl::Status BareLane::Await() {
  const Bank& bank = banks_[static_cast<size_t>(turn_)];
  CUresult result = CUDA_ERROR_NOT_READY;
  while (result == CUDA_ERROR_NOT_READY) {
    result = driver_.EventQuery(bank.done.get());
  }
  REPRISE_RETURN_IF_ERROR(ToStatus(driver_, result, "cuEventQuery"));
  if (timing_ == Timing::kStamps) {
    REPRISE_ASSIGN_OR_RETURN(const cuda::GraphStamps::Span span,
                             stamps_->Of(replay_));
    graph_ = span.took;
  } else if (timing_ != Timing::kNone) {
    float milliseconds = 0;
    REPRISE_RETURN_IF_ERROR(
        ToStatus(driver_,
                 driver_.EventElapsedTime(&milliseconds, bank.graph_begin.get(),
                                          bank.graph_end.get()),
                 "cuEventElapsedTime"));
    graph_ = absl::Milliseconds(milliseconds);
  }
  return absl::OkStatus();
}

}  // namespace reprise::bench
