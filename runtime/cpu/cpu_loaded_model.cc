#include "runtime/cpu/cpu_loaded_model.h"

#include <algorithm>
#include <functional>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/cpu/canary.h"
#include "runtime/cpu/cpu_lowering.h"
#include "runtime/cpu/evaluate.h"
#include "runtime/cpu/host_memory.h"
#include "runtime/cpu/kernel.h"
#include "runtime/cpu/quantile.h"
#include "runtime/ops/fold_constants.h"
#include "runtime/ops/follow_batch.h"
#include "runtime/ops/fuse.h"

namespace reprise::cpu {
namespace {

constexpr int kTimedRuns = 50;
constexpr int kLeastTimedRuns = 3;
constexpr absl::Duration kTimingBudget = absl::Milliseconds(500);

// A model with more work than this in its largest rung makes its trial runs on
// the loader's thread, over an arena of its own: nobody knows yet how long they
// take, and batches of other models would wait for the lane. What is smaller is
// done in a tenth of a second, and better timed where it will run.
constexpr int64_t kWorkOnLane = 100'000'000;

struct Fusion {
  absl::string_view name;
  bool ops::FuseOptions::*enabled;
};

// Every switch of FuseOptions.
constexpr Fusion kFusions[] = {
    {"activation", &ops::FuseOptions::activation},
    {"batch_norm", &ops::FuseOptions::batch_norm},
    {"bias", &ops::FuseOptions::bias},
};

absl::StatusOr<ops::FuseOptions> FuseOptionsWithout(
    const std::vector<std::string>& off) {
  ops::FuseOptions options;
  for (const std::string& name : off) {
    bool known = false;
    for (const Fusion& fusion : kFusions) {
      if (name != kAllFusions && name != fusion.name) continue;
      options.*fusion.enabled = false;
      known = true;
    }
    if (!known) {
      return absl::InvalidArgumentError(absl::StrCat(
          "fusions: the CPU has none of the name '", name, "'; it has ",
          absl::StrJoin(kFusions, ", ",
                        [](std::string* text, const Fusion& fusion) {
                          absl::StrAppend(text, fusion.name);
                        })));
    }
  }
  return options;
}

absl::Status CheckKernels(const graph::Graph& graph) {
  for (const graph::Node& node : graph.nodes) {
    if (!HasPlainKernel(node.op)) {
      return absl::UnimplementedError(absl::StrCat(
          graph::NodeText(node), ": the CPU has no kernel for ", node.op));
    }
  }
  return absl::OkStatus();
}

// The dims of `specs` with the variant's values for their symbols.
void BindSymbols(const Signature& signature, const VariantKey& dims,
                 std::vector<TensorSpec>& specs) {
  for (TensorSpec& spec : specs) {
    for (size_t i = 0; i < spec.dims.size(); ++i) {
      if (spec.dims[i] != kFreeDim || i >= spec.symbols.size()) continue;
      const auto it = std::find(signature.free_symbols.begin(),
                                signature.free_symbols.end(), spec.symbols[i]);
      if (it == signature.free_symbols.end()) continue;
      spec.dims[i] = dims[it - signature.free_symbols.begin()];
      spec.symbols[i].clear();
    }
  }
}

// The outputs as the bound graph has them, checked against the signature.
absl::Status BindOutputs(const ops::BoundGraph& bound, int rows,
                         Signature& signature) {
  for (size_t k = 0; k < signature.outputs.size(); ++k) {
    TensorSpec& spec = signature.outputs[k];
    const ops::TensorType& type = bound.types[bound.graph->outputs[k]];
    if (type.dtype != spec.dtype) {
      return absl::InternalError(absl::StrCat("output '", spec.name, "' is ",
                                              DTypeName(type.dtype), ", not ",
                                              DTypeName(spec.dtype)));
    }
    Dims dims = type.dims;
    if (signature.batched) {
      if (dims.empty() || dims[0] != rows) {
        return absl::FailedPreconditionError(absl::StrCat(
            "output '", spec.name, "' of dims ", DimsText(dims),
            " does not carry a batch of ", rows, " on its first axis"));
      }
      dims.erase(dims.begin());
    }
    spec.dims = dims;
    spec.symbols.assign(dims.size(), "");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<CpuLoadedModel>> CpuLoadedModel::Create(
    ModelHost host, const graph::Graph& graph, Signature signature,
    LoadOptions options) {
  REPRISE_ASSIGN_OR_RETURN(const ops::FuseOptions fusions,
                           FuseOptionsWithout(options.fusions_off));
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
                                     CpuSlot& slot, RunTimes* times) {
  if (draft.apart != nullptr) return RunApart(draft, rung, slot, times);
  host_.board.Begin(slot);
  REPRISE_RETURN_IF_ERROR(
      draft.lane->Submit({draft.runners[rung].get(), &slot}));
  REPRISE_ASSIGN_OR_RETURN(*times, host_.board.Await(slot));
  return absl::OkStatus();
}

absl::Status CpuLoadedModel::RunApart(const Draft& draft, size_t rung,
                                      CpuSlot& slot, RunTimes* times) {
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

absl::Status CpuLoadedModel::MoveToLane(Draft& draft, CpuSlot& slot) {
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

absl::Status CpuLoadedModel::TimeRungs(Draft& draft, CpuSlot& slot) {
  for (size_t i = 0; i < draft.ladder.size(); ++i) {
    RunTimes run;
    REPRISE_RETURN_IF_ERROR(RunOnce(draft, i, slot, &run));  // warm-up
    std::vector<absl::Duration> times;
    const absl::Time end = host_.clock.Now() + kTimingBudget;
    while (static_cast<int>(times.size()) < kTimedRuns &&
           (static_cast<int>(times.size()) < kLeastTimedRuns ||
            host_.clock.Now() < end)) {
      REPRISE_RETURN_IF_ERROR(RunOnce(draft, i, slot, &run));
      times.push_back(run.graph);
    }
    draft.ladder[i].p50 = QuantileOf(times, 0.5);
    draft.ladder[i].p999 = QuantileOf(times, 0.999);
  }
  return absl::OkStatus();
}

void CpuLoadedModel::DropSlowRungs(Draft& draft) const {
  const std::vector<size_t> kept = RungsWorthHaving(draft.ladder);
  for (size_t i = draft.ladder.size(); i-- > 0;) {
    if (std::binary_search(kept.begin(), kept.end(), i)) continue;
    const Rung& rung = draft.ladder[i];
    LogVerbose(1,
               absl::StrCat("rung dropped: not faster than a larger one "
                            "model=",
                            LogName(options_.model), " rows=", rung.rows,
                            " p50_us=", absl::ToDoubleMicroseconds(rung.p50)));
    draft.ladder.erase(draft.ladder.begin() + static_cast<int64_t>(i));
    draft.runners.erase(draft.runners.begin() + static_cast<int64_t>(i));
  }
}

absl::StatusOr<std::unique_ptr<Executable>> CpuLoadedModel::Prepare(
    const VariantKey& dims, const std::vector<int>& ladder, int lane) {
  if (dims.size() != signature_.free_symbols.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(dims.size(), " dims given for ",
                     signature_.free_symbols.size(), " free symbols"));
  }
  if (ladder.empty() || ladder.front() < 1 ||
      !std::is_sorted(ladder.begin(), ladder.end(), std::less_equal<>()) ||
      (!signature_.batched && ladder.back() != 1)) {
    return absl::InvalidArgumentError(
        "a ladder must be positive and ascending, and just 1 without a batch");
  }
  Draft draft;
  REPRISE_ASSIGN_OR_RETURN(draft.lane, host_.lane(lane));
  draft.signature = signature_;
  draft.signature.free_symbols.clear();
  BindSymbols(signature_, dims, draft.signature.inputs);
  const std::vector<int>* const kept = choices_.Find(dims, ladder);
  const std::vector<int>& rungs = kept != nullptr ? *kept : ladder;
  if (kept == nullptr && signature_.batched) {
    // The signature was found for other dims, and other numbers of rows.
    REPRISE_RETURN_IF_ERROR(ops::FollowBatch(*graph_, signature_, dims, rungs));
  }
  REPRISE_RETURN_IF_ERROR(LowerRungs(dims, rungs, draft));

  CpuSlot slot(/*pool=*/nullptr);
  REPRISE_RETURN_IF_ERROR(slot.Grow(draft.layout));
  slot.Use(draft.layout);
  if (kept == nullptr) {
    RunTimes unused;
    REPRISE_RETURN_IF_ERROR(
        CheckRowsIndependent({draft.signature, rungs, slot, [&](size_t rung) {
                                return RunOnce(draft, rung, slot, &unused);
                              }}));
  }
  FillWithSamples(draft.signature, rungs.back(), slot);
  REPRISE_RETURN_IF_ERROR(TimeRungs(draft, slot));
  if (kept == nullptr) {
    if (options_.may_drop_rungs) DropSlowRungs(draft);
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
