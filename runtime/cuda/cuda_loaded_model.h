// The weights of one model version on a GPU, and how its variants are prepared.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/clock.h"
#include "runtime/cuda/bound_program.h"
#include "runtime/cuda/cuda_executable.h"
#include "runtime/cuda/lowering_context.h"
#include "runtime/cuda/module.h"
#include "runtime/cuda/weight_store.h"
#include "runtime/device/device.h"
#include "runtime/device/device_observer.h"
#include "runtime/device/load_steps.h"
#include "runtime/graph/graph.h"
#include "runtime/prepare/rung_choice.h"
#include "runtime/prepare/slot_pool.h"

namespace reprise::cuda {

// Computes a node on the host: how constants are folded.
using EvaluateFn = std::function<absl::StatusOr<std::vector<HostTensor>>(
    const ops::NodeView& view, std::span<const ops::TensorType> outputs)>;

// What a loaded model takes from its device, which outlives it.
struct CudaModelHost {
  const PrimaryContext& context;
  std::function<absl::StatusOr<Lane*>(int lane)> lane;  // made if it is new
  SlotPool& slots;
  const SlotAllocator& allocate;  // of page-locked memory
  RunRecords& records;
  RunRecord& trial;  // of the loader's runs, which are steps
  Attention& attention;
  LoadSteps& steps;
  Modules& modules;
  const CublasLtHandle* products;  // null: none
  Clock& clock;
  const EvaluateFn& evaluate;
  LoweringOptions lowering;            // precision apart
  GraphClock* graph_clock = nullptr;   // null: one lane only
  DeviceObserver* observer = nullptr;  // null: nobody counts
};

// Lifecycle and threads: as LoadedModel.
class CudaLoadedModel final : public LoadedModel {
 public:
  // Folds and fuses a copy of `graph`. UNIMPLEMENTED: tensors of strings;
  // INVALID_ARGUMENT: options name a fusion or a precision that there is not.
  static absl::StatusOr<std::unique_ptr<CudaLoadedModel>> Create(
      CudaModelHost host, const graph::Graph& graph, Signature signature,
      LoadOptions options);

  absl::StatusOr<std::unique_ptr<Executable>> Prepare(
      const VariantKey& dims, const std::vector<int>& ladder,
      int lane) override;
  int64_t weight_bytes() const override { return weights_.bytes(); }

 private:
  CudaLoadedModel(CudaModelHost host, std::unique_ptr<const graph::Graph> graph,
                  Signature signature, LoadOptions options);

  // A variant that is being prepared. Members die in reverse order.
  struct Draft {
    Lane* lane = nullptr;
    Signature signature;
    Ladder ladder;
    SlotLayout layout;
    std::vector<Program> programs;
    int64_t arena_bytes = 0;
    CudaHolds holds;
    HostSlot slot;  // of the trials
    std::vector<CudaRung> rungs;
    // Of each rung, what the run that was not captured made of the samples.
    std::vector<std::vector<std::vector<std::byte>>> expected;
  };

  absl::Status LowerRungs(const VariantKey& dims,
                          const std::vector<int>& ladder, Draft& draft);
  absl::Status LoadModules(const CurrentContext& current, const Draft& draft);
  absl::Status CheckMemory(const CurrentContext& current,
                           const Draft& draft) const;
  absl::Status TakeMemory(const CurrentContext& current, Draft& draft);
  absl::Status LoadKernels(const CurrentContext& current, const Draft& draft);
  absl::Status CaptureRungs(const CurrentContext& current, Draft& draft);
  absl::StatusOr<BoundProgram> BindTo(const CurrentContext& current, int turn,
                                      const Program& program,
                                      const Draft& draft);
  absl::Status LoadProducts(BoundProgram& program, const Draft& draft);
  absl::Status WarmUp(BoundProgram& program, size_t rung, Draft& draft);
  absl::StatusOr<CapturedGraph> Capture(const CurrentContext& current,
                                        BoundProgram& program, CUstream stream);
  absl::Status PoisonArena(const Draft& draft) const;
  absl::Status CheckReplays(CudaExecutable& executable, Draft& draft);
  absl::Status TimeReplays(CudaExecutable& executable, Draft& draft);
  absl::StatusOr<RunTimes> Replay(CudaExecutable& executable, Draft& draft,
                                  size_t rung, RunKind kind);

  const CudaModelHost host_;
  const std::unique_ptr<const graph::Graph> graph_;
  const Signature signature_;
  const LoadOptions options_;
  LoweringOptions lowering_;
  WeightStore weights_;
  std::set<std::string> modules_;   // of our own, those that are loaded
  std::set<std::string> products_;  // algorithms whose code is loaded
  RungChoices choices_;             // of variants whose rows have been compared
};

}  // namespace reprise::cuda
