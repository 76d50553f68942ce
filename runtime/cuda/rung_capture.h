// Makes the captured graphs of a variant's rungs.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cuda/bound_program.h"
#include "runtime/cuda/captured_graph.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/cuda_model_host.h"
#include "runtime/cuda/variant_draft.h"

namespace reprise::cuda {

// What a run finds where its own kernels are to write: other bytes before every
// replay than before the run that it is held against, so that an answer made of
// what nobody wrote is another one.
inline constexpr unsigned char kBeforeWarmUp = 0;
inline constexpr unsigned char kBeforeReplay = 0xff;  // NaN as any float

// Fills the lane's arena, as far as the draft will use it, and its outputs in
// every bank. Returns at once; nothing else may run on the lane.
absl::Status FillWritten(const Driver& driver, const VariantDraft& draft,
                         unsigned char value);

// Largest rung first: where memory is short, that shows at once. Each is run
// once without a graph, then recorded, instantiated and uploaded for every
// bank.
//
// Lifecycle: all that it is made of outlives it. Threads: as Prepare.
class RungCapture {
 public:
  // `products`: the algorithms whose code is loaded, of the whole model.
  RungCapture(const CudaModelHost& host, const CurrentContext& current,
              std::span<const CUdeviceptr> constants,
              std::set<std::string>& products)
      : host_(host),
        current_(current),
        driver_(current.driver()),
        constants_(constants),
        products_(products) {}

  // Fills `rungs` and `expected` of a draft that has all before them. An error
  // names the rung. Without CudaModelHost::strict_graphs a rung that fails, the
  // largest apart, is taken out of the draft, with a warning that names
  // `model`.
  absl::Status CaptureAll(const std::string& model, VariantDraft& draft);

 private:
  absl::Status CaptureRung(size_t rung, CUstream stream, VariantDraft& draft);
  absl::StatusOr<BoundProgram> BindTo(int turn, const Program& program,
                                      const VariantDraft& draft);
  absl::Status LoadProducts(BoundProgram& program, const VariantDraft& draft);
  absl::Status WarmUp(BoundProgram& program, size_t rung, VariantDraft& draft);
  absl::StatusOr<CapturedGraph> Capture(BoundProgram& program,
                                        const GraphStamps& stamps,
                                        CUstream stream);

  const CudaModelHost& host_;
  const CurrentContext& current_;
  const Driver& driver_;
  const std::span<const CUdeviceptr> constants_;
  std::set<std::string>& products_;
};

// Whether rung `rung`, which failed so, may be left out of the draft: the
// device works, and a larger rung can take its batches.
bool MayLeaveOut(const VariantDraft& draft, size_t rung,
                 const absl::Status& status);
// Says that it has been.
void LogLeftOut(const CudaModelHost& host, const std::string& model,
                const absl::Status& status);

}  // namespace reprise::cuda
