// The weights of one model version, and how its variants are prepared.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/clock.h"
#include "runtime/cpu/cpu_executable.h"
#include "runtime/cpu/weights.h"
#include "runtime/device/device.h"
#include "runtime/graph/graph.h"
#include "runtime/prepare/host_slot.h"
#include "runtime/prepare/rung_choice.h"

namespace reprise::cpu {

// What a loaded model takes from its device, which outlives it.
struct ModelHost {
  std::function<absl::StatusOr<Lane*>(int lane)> lane;  // made if it is new
  RunBoard& board;
  SlotPool& slots;
  Clock& clock;
  absl::Duration inline_below;
  absl::Duration longest_trial;  // see CpuDeviceOptions
  int threads = 1;
};

// Lifecycle and threads: as LoadedModel.
class CpuLoadedModel final : public LoadedModel {
 public:
  // Folds and fuses a copy of `graph`, and checks that every node that is left
  // has a kernel: UNIMPLEMENTED names it. INVALID_ARGUMENT: options name a
  // fusion that there is not.
  static absl::StatusOr<std::unique_ptr<CpuLoadedModel>> Create(
      ModelHost host, const graph::Graph& graph, Signature signature,
      LoadOptions options);

  absl::StatusOr<std::unique_ptr<Executable>> Prepare(
      const VariantKey& dims, const std::vector<int>& ladder,
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
    ArenaHold arena;
    // Set while its runs are made apart from the lane.
    std::unique_ptr<Arena> apart;
    ArenaHold apart_hold;  // after `apart`: it goes first
  };

  absl::Status LowerRungs(const VariantKey& dims,
                          const std::vector<int>& ladder, Draft& draft);
  absl::Status CheckMemory(const Draft& draft, int64_t arena_bytes,
                           bool apart) const;
  absl::Status RunApart(const Draft& draft, size_t rung, HostSlot& slot,
                        RunTimes* times);
  // Over the lane's arena, where it is to run from now on.
  absl::Status MoveToLane(Draft& draft, HostSlot& slot);
  absl::Status RunOnce(const Draft& draft, size_t rung, HostSlot& slot,
                       RunTimes* times);
  absl::Status TimeRungs(Draft& draft, HostSlot& slot);

  const ModelHost host_;
  const std::unique_ptr<const graph::Graph> graph_;
  const Signature signature_;
  const LoadOptions options_;
  Weights weights_;
  RungChoices choices_;  // of variants whose rows have been compared
};

}  // namespace reprise::cpu
