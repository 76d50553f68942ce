#include "runtime/cuda/cuda_executable.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"
#include "runtime/prepare/quantile.h"
#include "runtime/prepare/rung_choice.h"

namespace reprise::cuda {
namespace {

// From this many bytes of inputs or outputs on, copies have streams of their
// own, so that they overlap the batch before; and they are timed, which costs
// some microseconds. Below it the copies take less than the events between the
// streams would.
constexpr size_t kOverlapBytes = size_t{256} << 10;

// Padding of no more than this is written by the host, in the slot.
constexpr size_t kHostPadding = size_t{16} << 10;

// A run is looked at without a pause from this long before it is expected to be
// over until as long after it; then every now and again.
constexpr absl::Duration kSpin = absl::Microseconds(60);
constexpr absl::Duration kPause = absl::Microseconds(50);

size_t BytesOf(const std::vector<SlotLayout::Tensor>& tensors, int rows) {
  size_t bytes = 0;
  for (const SlotLayout::Tensor& tensor : tensors) {
    bytes += tensor.row_bytes * static_cast<size_t>(rows);
  }
  return bytes;
}

}  // namespace

CudaExecutable::CudaExecutable(const CudaShared& shared, Signature signature,
                               Ladder ladder, std::vector<CudaRung> rungs,
                               SlotLayout layout, ArenaNeed need,
                               CudaHolds holds)
    : shared_(shared),
      driver_(shared.context.driver()),
      holds_(std::move(holds)),
      signature_(std::move(signature)),
      layout_(std::move(layout)),
      need_(need),
      rungs_(std::move(rungs)),
      ladder_(std::move(ladder)) {}

CudaExecutable::~CudaExecutable() {
  // Without the context nothing can be freed, which each handle then logs.
  const auto current = CurrentContext::Enter(shared_.context);
  if (!current.ok()) {
    LogError(current.status().message());
    return;
  }
  shared_.measured.Free(*current, MemoryUse::kGraphs,
                        [this] { rungs_.clear(); });
  const absl::Time begun = shared_.clock.Now();
  holds_ = CudaHolds();
  shared_.measured.steps().Count(LoadStep::kFree, shared_.clock.Now() - begun);
}

void CudaExecutable::KeepRungs(const std::vector<size_t>& kept, Ladder ladder) {
  KeepOnly(kept, rungs_);
  ladder_ = std::move(ladder);
}

SlotLease CudaExecutable::AcquireSlot() {
  return SlotLease(shared_.slots.Acquire(layout_));
}

absl::Status CudaExecutable::Submit(Slot& slot, int rows) {
  const int rung = rows < 1 ? -1 : RungFor(ladder_, rows);
  if (rung < 0) {
    return absl::OutOfRangeError(absl::StrCat("no rung has room for ", rows,
                                              " rows; the largest has ",
                                              ladder_.back().rows));
  }
  auto& host = static_cast<HostSlot&>(slot);
  RunRecord& run = shared_.records.At(host.index());
  run.rung = rung;
  run.expected = ladder_[static_cast<size_t>(rung)].p50;
  run.submitted = shared_.clock.Now();
  run.running = false;
  REPRISE_RETURN_IF_ERROR(Issue(host, run, rows, RunKind::kBatch));
  run.running = true;
  return absl::OkStatus();
}

// Large batches use three streams, so that three batches overlap; small ones
// use the one that computes. Either way a bank is written when the batch that
// had it before has been copied back.
absl::Status CudaExecutable::Issue(HostSlot& slot, RunRecord& run, int rows,
                                   RunKind kind) {
  const CudaRung& rung = rungs_[static_cast<size_t>(run.rung)];
  Lane& lane = shared_.lane;
  const int turn = lane.NextBank();
  const CUdeviceptr bank = lane.bank(turn).address();
  const CUstream compute = lane.compute();
  const bool overlaps = BytesOf(layout_.inputs, rows) >= kOverlapBytes ||
                        BytesOf(layout_.outputs, rows) >= kOverlapBytes;
  run.copies_timed = overlaps;
  const CUstream in = overlaps ? lane.copy_in() : compute;
  const RunRecord* const before = lane.TakeBank(turn, &run);
  if (before != nullptr && before->running) {
    REPRISE_RETURN_IF_ERROR(WaitFor(before->done, in));
  }
  if (overlaps) REPRISE_RETURN_IF_ERROR(Record(run.in_begin, in));
  REPRISE_RETURN_IF_ERROR(CopyIn(
      slot, bank, rows, ladder_[static_cast<size_t>(run.rung)].rows, in));
  if (overlaps) {
    REPRISE_RETURN_IF_ERROR(Record(run.in_end, in));
    REPRISE_RETURN_IF_ERROR(WaitFor(run.in_end, compute));
  }
  const CapturedGraph& graph = rung.graphs[static_cast<size_t>(turn)];
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver_, driver_.GraphLaunch(graph.exec.get(), compute),
               "cuGraphLaunch"));
  run.replay = lane.stamps().Number();
  if (shared_.observer != nullptr) shared_.observer->Ran(kind);
  const CUstream out = overlaps ? lane.copy_out() : compute;
  if (overlaps) {
    REPRISE_RETURN_IF_ERROR(Record(run.graph_end, compute));
    REPRISE_RETURN_IF_ERROR(WaitFor(run.graph_end, out));
    REPRISE_RETURN_IF_ERROR(Record(run.out_begin, out));
  }
  REPRISE_RETURN_IF_ERROR(CopyOut(slot, bank, rows, out));
  if (overlaps) REPRISE_RETURN_IF_ERROR(Record(run.out_end, out));
  return Record(run.done, out);
}

absl::Status CudaExecutable::CopyIn(const HostSlot& slot, CUdeviceptr bank,
                                    int rows, int rung, CUstream stream) const {
  const SlotBuffers buffers = slot.buffers();
  for (size_t k = 0; k < layout_.inputs.size(); ++k) {
    const SlotLayout::Tensor& tensor = layout_.inputs[k];
    if (tensor.row_bytes == 0) continue;
    std::byte* const from = buffers.inputs[k];
    const CUdeviceptr to = bank + tensor.offset;
    const size_t padding = static_cast<size_t>(rung - rows) * tensor.row_bytes;
    const bool by_host = padding <= kHostPadding;
    for (int row = rows; by_host && row < rung; ++row) {
      std::memcpy(from + static_cast<size_t>(row) * tensor.row_bytes, from,
                  tensor.row_bytes);
    }
    const int copied = by_host ? rung : rows;
    REPRISE_RETURN_IF_ERROR(ToStatus(
        driver_,
        driver_.MemcpyHtoDAsync(
            to, from, static_cast<size_t>(copied) * tensor.row_bytes, stream),
        "copying inputs to the device"));
    REPRISE_RETURN_IF_ERROR(Pad(to, tensor.row_bytes, copied, rung, stream));
  }
  return absl::OkStatus();
}

// Copies of row 0 behind the first `rows`: the first by itself, the others in
// stretches that double.
absl::Status CudaExecutable::Pad(CUdeviceptr rows_at, size_t row_bytes,
                                 int rows, int rung, CUstream stream) const {
  const CUdeviceptr begin = rows_at + static_cast<size_t>(rows) * row_bytes;
  const auto total = static_cast<size_t>(rung - rows) * row_bytes;
  for (size_t filled = 0; filled < total;) {
    const size_t bytes =
        filled == 0 ? row_bytes : std::min(filled, total - filled);
    REPRISE_RETURN_IF_ERROR(ToStatus(
        driver_,
        driver_.MemcpyDtoDAsync(begin + filled, filled == 0 ? rows_at : begin,
                                bytes, stream),
        "padding on the device"));
    filled += bytes;
  }
  return absl::OkStatus();
}

absl::Status CudaExecutable::CopyOut(const HostSlot& slot, CUdeviceptr bank,
                                     int rows, CUstream stream) const {
  const SlotBuffers buffers = slot.buffers();
  for (size_t k = 0; k < layout_.outputs.size(); ++k) {
    const SlotLayout::Tensor& tensor = layout_.outputs[k];
    const size_t bytes = static_cast<size_t>(rows) * tensor.row_bytes;
    if (bytes == 0) continue;
    REPRISE_RETURN_IF_ERROR(
        ToStatus(driver_,
                 driver_.MemcpyDtoHAsync(buffers.outputs[k],
                                         bank + tensor.offset, bytes, stream),
                 "copying outputs from the device"));
  }
  return absl::OkStatus();
}

absl::Status CudaExecutable::Record(const UniqueEvent& event,
                                    CUstream stream) const {
  return ToStatus(driver_, driver_.EventRecord(event.get(), stream),
                  "cuEventRecord");
}

absl::Status CudaExecutable::WaitFor(const UniqueEvent& event,
                                     CUstream stream) const {
  return ToStatus(driver_, driver_.StreamWaitEvent(stream, event.get(), 0),
                  "cuStreamWaitEvent");
}

absl::StatusOr<RunTimes> CudaExecutable::Wait(Slot& slot, absl::Time deadline) {
  RunRecord& run = shared_.records.At(static_cast<HostSlot&>(slot).index());
  if (!run.running) {
    return absl::FailedPreconditionError("the slot has not been submitted");
  }
  for (;;) {
    const CUresult result = driver_.EventQuery(run.done.get());
    if (result == CUDA_SUCCESS) return Finish(run);
    if (result != CUDA_ERROR_NOT_READY) {
      run.running = false;
      return ToStatus(driver_, result, "a run on the device");
    }
    const absl::Time now = shared_.clock.Now();
    if (now >= deadline) return absl::DeadlineExceededError("it still runs");
    if (shared_.attention.Take()) return absl::AbortedError("called away");
    const absl::Time look = LookAt(run, now);
    if (look > now) shared_.attention.Rest(std::min(deadline, look));
  }
}

// When it is worth looking again whether `run` is done.
absl::Time CudaExecutable::LookAt(const RunRecord& run, absl::Time now) const {
  const absl::Time over = run.submitted + run.expected;
  if (now < over - kSpin) return over - kSpin;
  return now < over + kSpin ? now : now + kPause;
}

absl::StatusOr<RunTimes> CudaExecutable::Finish(RunRecord& run) {
  run.running = false;
  REPRISE_ASSIGN_OR_RETURN(const RunTimes times,
                           TimesOf(driver_, shared_.lane.stamps(), run));
  UpdateRung(ladder_[static_cast<size_t>(run.rung)], times.graph);
  return times;
}

absl::StatusOr<RunTimes> CudaExecutable::RunForLoader(HostSlot& slot,
                                                      RunRecord& run, int index,
                                                      RunKind kind) {
  run.rung = index;
  REPRISE_RETURN_IF_ERROR(
      Issue(slot, run, ladder_[static_cast<size_t>(index)].rows, kind));
  const CUstream out =
      run.copies_timed ? shared_.lane.copy_out() : shared_.lane.compute();
  REPRISE_RETURN_IF_ERROR(ToStatus(driver_, driver_.StreamSynchronize(out),
                                   "a trial run on the device"));
  return TimesOf(driver_, shared_.lane.stamps(), run);
}

}  // namespace reprise::cuda
