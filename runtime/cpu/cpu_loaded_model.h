// The weights of one model version, and how its variants are prepared.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/clock.h"
#include "runtime/cpu/cpu_executable.h"
#include "runtime/cpu/weights.h"
#include "runtime/device/device.h"
#include "runtime/graph/graph.h"

namespace reprise::cpu {

// What a loaded model takes from its device, which outlives it.
struct ModelHost {
  std::function<absl::StatusOr<Lane*>(int lane)> lane;  // made if it is new
  RunBoard& board;
  SlotPool& slots;
  Clock& clock;
  absl::Duration inline_below;
  int threads = 1;
};

// Lifecycle and threads: as LoadedModel.
class CpuLoadedModel final : public LoadedModel {
 public:
  // Folds and fuses a copy of `graph`, and checks that every node that is left
  // has a kernel: UNIMPLEMENTED names it.
  static absl::StatusOr<std::unique_ptr<CpuLoadedModel>> Create(
      ModelHost host, const graph::Graph& graph, Signature signature,
      LoadOptions options);

  absl::StatusOr<std::unique_ptr<Executable>> Prepare(
      const VariantDims& dims, const std::vector<int>& ladder,
      int lane) override;
  int64_t weight_bytes() const override { return weights_.bytes(); }

 private:
  CpuLoadedModel(ModelHost host, std::unique_ptr<const graph::Graph> graph,
                 Signature signature, LoadOptions options);

  // A variant that is being prepared.
  struct Draft {
    Lane* lane = nullptr;
    Signature signature;
    Ladder ladder;
    std::vector<std::unique_ptr<Runner>> runners;
    SlotLayout layout;
  };

  // The rows of the rungs that `ladder` has become, or null if it is new.
  const std::vector<int>* Kept(const VariantDims& dims,
                               const std::vector<int>& ladder) const;
  absl::Status LowerRungs(const VariantDims& dims,
                          const std::vector<int>& ladder, Draft& draft);
  absl::Status CheckMemory(const Draft& draft, int64_t arena_bytes) const;
  absl::Status RunOnce(const Draft& draft, size_t rung, CpuSlot& slot,
                       RunTimes* times);
  absl::Status TimeRungs(Draft& draft, CpuSlot& slot);
  void DropSlowRungs(Draft& draft) const;

  const ModelHost host_;
  const std::unique_ptr<const graph::Graph> graph_;
  const Signature signature_;
  const LoadOptions options_;
  Weights weights_;
  // What was found out on the first lane: rows have been compared, and these
  // rungs were worth keeping. Further lanes prepare the same ones.
  std::map<std::pair<std::vector<int64_t>, std::vector<int>>, std::vector<int>>
      kept_;
};

}  // namespace reprise::cpu
