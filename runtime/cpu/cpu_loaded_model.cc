#include "runtime/cpu/cpu_loaded_model.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/cpu/cpu_lowering.h"
#include "runtime/cpu/evaluate.h"
#include "runtime/cpu/heap_slot_memory.h"
#include "runtime/cpu/host_memory.h"
#include "runtime/cpu/kernel.h"
#include "runtime/ops/fold_constants.h"
#include "runtime/ops/follow_batch.h"
#include "runtime/ops/fuse.h"
#include "runtime/prepare/bind_signature.h"
#include "runtime/prepare/canary.h"
#include "runtime/prepare/fusion_choice.h"
#include "runtime/prepare/time_rungs.h"

namespace reprise::cpu {
namespace {

// A model with more work than this in its largest rung makes its trial runs on
// the loader's thread, over an arena of its own: nobody knows yet how long they
// take, and batches of other models would wait for the lane. What is smaller is
// done in a tenth of a second, and better timed where it will run.
constexpr int64_t kWorkOnLane = 100'000'000;

absl::Status CheckKernels(const graph::Graph& graph) {
  for (const graph::Node& node : graph.nodes) {
    if (!HasPlainKernel(node.op)) {
      return absl::UnimplementedError(absl::StrCat(
          graph::NodeText(node), ": the CPU has no kernel for ", node.op));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<CpuLoadedModel>> CpuLoadedModel::Create(
    ModelHost host, const graph::Graph& graph, Signature signature,
    LoadOptions options) {
  REPRISE_ASSIGN_OR_RETURN(const ops::FuseOptions fusions,
                           FuseOptionsWithout(options.fusions_off, "the CPU"));
  auto copy = std::make_unique<graph::Graph>(graph);
  REPRISE_RETURN_IF_ERROR(ops::FoldConstants(*copy, {}, EvaluateNode).status());
  REPRISE_RETURN_IF_ERROR(ops::Fuse(*copy, fusions).status());
  REPRISE_RETURN_IF_ERROR(CheckKernels(*copy));
  return absl::WrapUnique(new CpuLoadedModel(std::move(host), std::move(copy),
                                             std::move(signature),
                                             std::move(options)));
}

CpuLoadedModel::CpuLoadedModel(ModelHost host,
                               std::unique_ptr<const graph::Graph> graph,
                               Signature signature, LoadOptions options)
    : host_(std::move(host)),
      graph_(std::move(graph)),
      signature_(std::move(signature)),
      options_(std::move(options)),
      weights_(*graph_) {}

absl::Status CpuLoadedModel::LowerRungs(const VariantKey& dims,
                                        const std::vector<int>& ladder,
                                        Draft& draft) {
  std::vector<Program> programs;
  int64_t arena_bytes = 0;
  int64_t work = 0;
  TableBudget tables(HostMemory().free);
  for (const int rows : ladder) {
    REPRISE_ASSIGN_OR_RETURN(const ops::BoundGraph bound,
                             ops::Bind(*graph_, signature_, rows, dims));
    REPRISE_RETURN_IF_ERROR(BindOutputs(bound, rows, draft.signature));
    REPRISE_ASSIGN_OR_RETURN(
        Program program, Lower(bound, draft.lane->dnn(), weights_,
                               {.threads = host_.threads, .tables = &tables}));
    arena_bytes = std::max(arena_bytes, program.plan.arena_bytes);
    work = std::max(work, program.work);
    programs.push_back(std::move(program));
  }
  REPRISE_ASSIGN_OR_RETURN(draft.layout,
                           MakeSlotLayout(draft.signature, ladder.back()));
  const bool apart = work > kWorkOnLane;
  REPRISE_RETURN_IF_ERROR(CheckMemory(draft, arena_bytes, apart));
  REPRISE_ASSIGN_OR_RETURN(draft.arena,
                           draft.lane->arena().Reserve(arena_bytes));
  std::byte* arena = draft.lane->arena().data();
  if (apart) {
    REPRISE_ASSIGN_OR_RETURN(draft.apart,
                             Arena::Create(std::max<int64_t>(arena_bytes, 1)));
    REPRISE_ASSIGN_OR_RETURN(draft.apart_hold,
                             draft.apart->Reserve(arena_bytes));
    arena = draft.apart->data();
  }
  for (size_t i = 0; i < programs.size(); ++i) {
    draft.ladder.emplace_back();
    draft.ladder.back().rows = ladder[i];
    draft.runners.push_back(
        std::make_unique<Runner>(std::move(programs[i]), arena));
  }
  return absl::OkStatus();
}

absl::Status CpuLoadedModel::CheckMemory(const Draft& draft,
                                         int64_t arena_bytes,
                                         bool apart) const {
  const int64_t arena =
      std::max<int64_t>(0, arena_bytes - draft.lane->arena().size()) +
      (apart ? arena_bytes : 0);
  // Those of the pool, and the one that rungs are timed in.
  const int64_t slots = host_.slots.BytesToGrow(draft.layout) +
                        static_cast<int64_t>(draft.layout.bytes);
  const int64_t free = HostMemory().free;
  if (arena + slots > free) {
    return absl::ResourceExhaustedError(
        absl::StrCat("it needs ", arena, " bytes for activations and ", slots,
                     " for slots, and ", free, " are free"));
  }
  return absl::OkStatus();
}

absl::Status CpuLoadedModel::RunOnce(const Draft& draft, size_t rung,
                                     HostSlot& slot, RunTimes* times) {
  if (draft.apart != nullptr) return RunApart(draft, rung, slot, times);
  host_.board.Begin(slot);
  REPRISE_RETURN_IF_ERROR(
      draft.lane->Submit({draft.runners[rung].get(), &slot}));
  REPRISE_ASSIGN_OR_RETURN(*times, host_.board.Await(slot));
  return absl::OkStatus();
}

absl::Status CpuLoadedModel::RunApart(const Draft& draft, size_t rung,
                                      HostSlot& slot, RunTimes* times) {
  const absl::Time begun = host_.clock.Now();
  absl::Status status = draft.runners[rung]->RunUntil(slot.buffers(), [&] {
    return host_.clock.Now() - begun > host_.longest_trial;
  });
  times->graph = host_.clock.Now() - begun;
  if (!absl::IsAborted(status)) return status;
  return absl::DeadlineExceededError(absl::StrCat(
      "a run of ", draft.ladder[rung].rows, " rows takes longer than ",
      absl::FormatDuration(host_.longest_trial), ": ", status.message()));
}

absl::Status CpuLoadedModel::MoveToLane(Draft& draft, HostSlot& slot) {
  if (draft.apart == nullptr) return absl::OkStatus();
  draft.apart_hold = ArenaHold();
  draft.apart = nullptr;
  for (const auto& runner : draft.runners) {
    runner->MoveTo(draft.lane->arena().data());
  }
  // The lane's threads and the pages of its arena are made by their first run:
  // not by a request's.
  RunTimes unused;
  return RunOnce(draft, draft.runners.size() - 1, slot, &unused);
}

absl::Status CpuLoadedModel::TimeRungs(Draft& draft, HostSlot& slot) {
  return reprise::TimeRungs(
      host_.clock,
      [&](size_t rung) -> absl::StatusOr<absl::Duration> {
        RunTimes times;
        REPRISE_RETURN_IF_ERROR(RunOnce(draft, rung, slot, &times));
        return times.graph;
      },
      draft.ladder);
}

absl::StatusOr<std::unique_ptr<Executable>> CpuLoadedModel::Prepare(
    const VariantKey& dims, const std::vector<int>& ladder, int lane) {
  REPRISE_RETURN_IF_ERROR(CheckVariant(signature_, dims, ladder));
  Draft draft;
  REPRISE_ASSIGN_OR_RETURN(draft.lane, host_.lane(lane));
  draft.signature = BindSymbols(signature_, dims);
  const std::vector<int>* const kept = choices_.Find(dims, ladder);
  const std::vector<int>& rungs = kept != nullptr ? *kept : ladder;
  if (kept == nullptr && signature_.batched) {
    // The signature was found for other dims, and other numbers of rows.
    REPRISE_RETURN_IF_ERROR(ops::FollowBatch(*graph_, signature_, dims, rungs));
  }
  REPRISE_RETURN_IF_ERROR(LowerRungs(dims, rungs, draft));

  HostSlot slot;
  REPRISE_RETURN_IF_ERROR(slot.Grow(draft.layout, AllocateOnHeap));
  slot.Use(draft.layout);
  const std::vector<TensorRows> inputs = slot.input_rows();
  const std::vector<TensorRows> outputs = slot.output_rows();
  if (kept == nullptr) {
    RunTimes unused;
    REPRISE_RETURN_IF_ERROR(CheckRowsIndependent(
        {draft.signature, rungs, inputs, outputs,
         [&](size_t rung) { return RunOnce(draft, rung, slot, &unused); }}));
  }
  FillWithSamples(draft.signature, rungs.back(), inputs);
  REPRISE_RETURN_IF_ERROR(TimeRungs(draft, slot));
  if (kept == nullptr) {
    if (options_.may_drop_rungs) {
      KeepOnly(DropSlowRungs(options_.model, draft.ladder), draft.runners);
    }
    std::vector<int> rows;
    for (const Rung& rung : draft.ladder) rows.push_back(rung.rows);
    choices_.Keep(dims, ladder, std::move(rows));
  }
  REPRISE_RETURN_IF_ERROR(MoveToLane(draft, slot));
  CpuHolds holds{.arena = std::move(draft.arena), .slots = {}};
  REPRISE_ASSIGN_OR_RETURN(holds.slots, host_.slots.Require(draft.layout));
  const CpuShared shared{*draft.lane, host_.board, host_.slots,
                         host_.inline_below};
  return std::make_unique<CpuExecutable>(
      shared, std::move(draft.signature), std::move(draft.ladder),
      std::move(draft.runners), std::move(draft.layout), std::move(holds));
}

}  // namespace reprise::cpu
