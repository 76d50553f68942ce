#include "runtime/cuda/rung_trials.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/rung_capture.h"
#include "runtime/prepare/canary.h"
#include "runtime/prepare/time_rungs.h"

namespace reprise::cuda {
namespace {

// How far a replay may be from the run before it, of the largest value: both
// run the same code, but libraries may add in another order.
constexpr double kSameCode = 1e-5;

// How far rungs may be apart, of a row's largest value (CanaryRun): a library
// takes other algorithms for other numbers of rows, which round intermediate
// values to the narrower type in other places. On an H200 a network of three
// layers differed by 1.5e-3, 2.5e-3 and 5.7e-3.
double BetweenRungs(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return 0;
    case Precision::kTf32:
      return 1e-2;
    case Precision::kFp16:
    case Precision::kBf16:
      return 5e-2;
  }
  return 0;
}

// How far another device may be, of the largest value. On an H200 encoders of
// six layers differed by 4e-3, 1.3e-2 and 9e-2 of values around 3.
double BetweenDevices(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return 2e-3;
    case Precision::kTf32:
      return 1e-2;
    case Precision::kFp16:
      return 5e-2;
    case Precision::kBf16:
      return 1e-1;
  }
  return 0;
}

}  // namespace

absl::StatusOr<RunTimes> RungTrials::Replay(size_t rung, RunKind kind) {
  RunTimes times;
  const auto work = [&]() -> absl::Status {
    if (kind == RunKind::kCheck) {
      REPRISE_RETURN_IF_ERROR(
          FillWritten(host_.context.driver(), draft_, kBeforeReplay));
    }
    REPRISE_ASSIGN_OR_RETURN(
        times, executable_.RunForLoader(draft_.slot, host_.trial,
                                        static_cast<int>(rung), kind));
    return absl::OkStatus();
  };
  REPRISE_RETURN_IF_ERROR(host_.steps.Run(LoadStep::kReplay, work));
  return times;
}

absl::Status RungTrials::CheckReplay(size_t rung) {
  const auto rows = static_cast<size_t>(draft_.ladder[rung].rows);
  for (int turn = 0; turn < kBanks; ++turn) {
    REPRISE_RETURN_IF_ERROR(Replay(rung, RunKind::kCheck).status());
    const std::vector<TensorRows> outputs = draft_.slot.output_rows();
    for (size_t k = 0; k < outputs.size(); ++k) {
      const TensorSpec& spec = draft_.signature.outputs[k];
      const std::string difference =
          Difference(spec.dtype, {outputs[k].data, rows * outputs[k].row_bytes},
                     draft_.expected[rung][k], kSameCode);
      if (difference.empty()) continue;
      return absl::FailedPreconditionError(
          absl::StrCat("output '", spec.name, "' is ", difference,
                       " replayed and not captured"));
    }
  }
  return absl::OkStatus();
}

absl::Status RungTrials::CheckReplays(const std::string& model) {
  FillWithSamples(draft_.signature, draft_.ladder.back().rows,
                  draft_.slot.input_rows());
  std::vector<size_t> kept;
  for (size_t i = draft_.ladder.size(); i-- > 0;) {
    absl::Status status = CheckReplay(i);
    if (status.ok()) {
      kept.push_back(i);
      continue;
    }
    status = Annotate(status, absl::StrCat("rung ", draft_.ladder[i].rows));
    if (!MayLeaveOut(draft_, i, status)) return status;
    LogLeftOut(host_, model, status);
  }
  std::reverse(kept.begin(), kept.end());
  draft_.KeepRungs(kept);
  executable_.KeepRungs(kept, draft_.ladder);
  return absl::OkStatus();
}

absl::Status RungTrials::CheckRows() {
  std::vector<int> rungs;
  for (const Rung& rung : draft_.ladder) rungs.push_back(rung.rows);
  const std::vector<TensorRows> inputs = draft_.slot.input_rows();
  const std::vector<TensorRows> outputs = draft_.slot.output_rows();
  const auto run = [&](size_t rung) {
    return Replay(rung, RunKind::kCanary).status();
  };
  REPRISE_RETURN_IF_ERROR(
      CheckRowsIndependent({draft_.signature, rungs, inputs, outputs, run,
                            BetweenRungs(precision_)}));
  FillWithSamples(draft_.signature, rungs.back(), inputs);
  return absl::OkStatus();
}

absl::Status RungTrials::CompareWith(Executable& reference) {
  FillWithSamples(draft_.signature, draft_.ladder.back().rows,
                  draft_.slot.input_rows());
  REPRISE_RETURN_IF_ERROR(Replay(0, RunKind::kCanary).status());
  const SlotLease other = reference.AcquireSlot();
  if (!other) return absl::InternalError("the other device has no slot");
  const std::vector<TensorRows> inputs = draft_.slot.input_rows();
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (inputs[k].row_bytes == 0) continue;
    std::memcpy(other->input(static_cast<int>(k)).data(), inputs[k].data,
                inputs[k].row_bytes);
  }
  REPRISE_RETURN_IF_ERROR(reference.Submit(*other, 1));
  REPRISE_RETURN_IF_ERROR(
      reference.Wait(*other, absl::InfiniteFuture()).status());
  const std::vector<TensorRows> outputs = draft_.slot.output_rows();
  for (size_t k = 0; k < outputs.size(); ++k) {
    const TensorSpec& spec = draft_.signature.outputs[k];
    const std::string difference = Difference(
        spec.dtype, {outputs[k].data, outputs[k].row_bytes},
        other->output(static_cast<int>(k)).first(outputs[k].row_bytes),
        BetweenDevices(precision_));
    if (difference.empty()) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "output '", spec.name, "' is ", difference,
        " of a row of samples, on the GPU and the device that verifies it"));
  }
  return absl::OkStatus();
}

absl::Status RungTrials::Time() {
  const auto time = [&](size_t rung) -> absl::StatusOr<absl::Duration> {
    REPRISE_ASSIGN_OR_RETURN(const RunTimes times,
                             Replay(rung, RunKind::kTiming));
    return times.graph;
  };
  return TimeRungs(host_.clock, time, draft_.ladder);
}

}  // namespace reprise::cuda
