// Trial runs of a variant that has been captured: is it right, and how fast?
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cuda/cuda_executable.h"
#include "runtime/cuda/cuda_model_host.h"
#include "runtime/cuda/variant_draft.h"
#include "runtime/device/device_observer.h"
#include "runtime/device/executable.h"

namespace reprise::cuda {

// Every run is a step of its own, out of the draft's slot.
//
// Lifecycle: all that it is made of outlives it; the executable was made from
// the draft, and has its rungs. Threads: as Prepare.
class RungTrials {
 public:
  RungTrials(const CudaModelHost& host, Precision precision,
             CudaExecutable& executable, VariantDraft& draft)
      : host_(host),
        precision_(precision),
        executable_(executable),
        draft_(draft) {}

  // Replays every rung out of each bank, after kBeforeReplay: what it makes of
  // the samples must be what the run that was not captured has made.
  // FAILED_PRECONDITION names the rung and the output. Rungs that may be left
  // out are, as RungCapture::CaptureAll does.
  absl::Status CheckReplays(const std::string& model);

  // CheckRowsIndependent (prepare/canary.h).
  absl::Status CheckRows();

  // Holds a row of the samples against `reference`, which runs that row on
  // another device. FAILED_PRECONDITION names the output and the two values.
  absl::Status CompareWith(Executable& reference);

  // TimeRungs (prepare/time_rungs.h), into the draft's ladder.
  absl::Status Time();

 private:
  absl::StatusOr<RunTimes> Replay(size_t rung, RunKind kind);
  absl::Status CheckReplay(size_t rung);

  const CudaModelHost& host_;
  const Precision precision_;
  CudaExecutable& executable_;
  VariantDraft& draft_;
};

}  // namespace reprise::cuda
