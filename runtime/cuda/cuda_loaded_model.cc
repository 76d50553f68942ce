#include "runtime/cuda/cuda_loaded_model.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/cuda_lowering.h"
#include "runtime/cuda/rung_capture.h"
#include "runtime/cuda/rung_trials.h"
#include "runtime/ops/fold_constants.h"
#include "runtime/ops/follow_batch.h"
#include "runtime/ops/fuse.h"
#include "runtime/prepare/bind_signature.h"
#include "runtime/prepare/fusion_choice.h"

namespace reprise::cuda {
namespace {

// Device memory that is left alone: captured graphs and the driver's own need
// some, of which nobody knows before.
constexpr int64_t kReserve = int64_t{64} << 20;

absl::StatusOr<Precision> ParsePrecision(const std::string& name) {
  if (name == "fp32") return Precision::kFp32;
  if (name == "tf32") return Precision::kTf32;
  if (name == "fp16") return Precision::kFp16;
  if (name == "bf16") return Precision::kBf16;
  return absl::InvalidArgumentError(
      absl::StrCat("precision '", name, "': expected fp32|tf32|fp16|bf16"));
}

absl::Status RefuseStrings(const Signature& signature) {
  for (const auto* specs : {&signature.inputs, &signature.outputs}) {
    for (const TensorSpec& spec : *specs) {
      if (spec.dtype != DType::kString) continue;
      return absl::UnimplementedError(
          absl::StrCat("tensor '", spec.name,
                       "' is of strings, which a GPU does not have: serve it "
                       "with KIND_CPU"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LoweringOptions> LoweringFor(LoweringOptions device,
                                            const LoadOptions& options) {
  REPRISE_ASSIGN_OR_RETURN(device.precision, ParsePrecision(options.precision));
  const bool fuses = std::ranges::find(options.fusions_off, kAllFusions) ==
                     options.fusions_off.end();
  device.chains = fuses ? Chains::kWritten : Chains::kNodeByNode;
  return device;
}

absl::StatusOr<std::unique_ptr<CudaLoadedModel>> CudaLoadedModel::Create(
    CudaModelHost host, std::shared_ptr<const graph::Graph> graph,
    Signature signature, LoadOptions options) {
  REPRISE_RETURN_IF_ERROR(RefuseStrings(signature));
  REPRISE_ASSIGN_OR_RETURN(const ops::FuseOptions fusions,
                           FuseOptionsWithout(options.fusions_off, "the GPU"));
  REPRISE_ASSIGN_OR_RETURN(const LoweringOptions lowering,
                           LoweringFor(host.lowering, options));
  auto copy = std::make_unique<graph::Graph>(*graph);
  REPRISE_RETURN_IF_ERROR(
      ops::FoldConstants(*copy, {}, host.evaluate).status());
  REPRISE_RETURN_IF_ERROR(ops::Fuse(*copy, fusions).status());
  auto model = absl::WrapUnique(
      new CudaLoadedModel(std::move(host), lowering, std::move(copy),
                          std::move(signature), std::move(options)));
  if (model->host_.reference) model->source_ = std::move(graph);
  return model;
}

CudaLoadedModel::CudaLoadedModel(CudaModelHost host, LoweringOptions lowering,
                                 std::unique_ptr<const graph::Graph> graph,
                                 Signature signature, LoadOptions options)
    : host_(std::move(host)),
      graph_(std::move(graph)),
      signature_(std::move(signature)),
      options_(std::move(options)),
      lowering_(lowering),
      weights_(host_.context, host_.steps) {}

absl::Status CudaLoadedModel::LowerRungs(const VariantKey& dims,
                                         const std::vector<int>& ladder,
                                         VariantDraft& draft) {
  for (const int rows : ladder) {
    REPRISE_ASSIGN_OR_RETURN(const ops::BoundGraph bound,
                             ops::Bind(*graph_, signature_, rows, dims));
    REPRISE_RETURN_IF_ERROR(BindOutputs(bound, rows, draft.signature));
    REPRISE_ASSIGN_OR_RETURN(Program program,
                             Lower(bound, weights_.list(), lowering_));
    draft.arena_bytes = std::max(draft.arena_bytes, program.plan.arena_bytes);
    draft.live_bytes = std::max(draft.live_bytes, program.plan.live_bytes);
    draft.programs.push_back(std::move(program));
    draft.ladder.emplace_back();
    draft.ladder.back().rows = rows;
  }
  REPRISE_ASSIGN_OR_RETURN(draft.layout,
                           MakeSlotLayout(draft.signature, ladder.back()));
  return absl::OkStatus();
}

// A module is named by its text, and stays for the next model that has it.
absl::Status CudaLoadedModel::LoadModules(const CurrentContext& current,
                                          const VariantDraft& draft) {
  for (const Program& program : draft.programs) {
    for (const GeneratedModule& module : program.modules) {
      if (host_.modules.Has(module.name)) continue;
      REPRISE_RETURN_IF_ERROR(host_.measured.Run(
          current, LoadStep::kLoadModule, MemoryUse::kCode, [&] {
            const auto bytes = std::as_bytes(
                std::span(module.ptx.c_str(), module.ptx.size() + 1));
            return host_.modules.Add(current, module.name, bytes);
          }));
    }
  }
  return absl::OkStatus();
}

// Looking a kernel up loads it.
absl::Status CudaLoadedModel::LoadKernels(const CurrentContext& current,
                                          const VariantDraft& draft) {
  std::map<std::string, unsigned> kernels;  // and their shared memory
  for (const Program& program : draft.programs) {
    for (const std::vector<Action>& actions : program.steps) {
      for (const Action& action : actions) {
        const auto* const launch = std::get_if<KernelLaunch>(&action);
        if (launch == nullptr) continue;
        unsigned& shared = kernels[launch->entry];
        shared = std::max(shared, launch->shared_bytes);
      }
    }
  }
  for (const auto& [entry, shared] : kernels) {
    if (host_.modules.IsLoaded(entry, shared)) continue;
    const auto find = [&, &name = entry, bytes = shared] {
      return host_.modules.Find(current, name, bytes).status();
    };
    REPRISE_RETURN_IF_ERROR(host_.measured.Run(current, LoadStep::kLoadModule,
                                               MemoryUse::kCode, find));
  }
  return absl::OkStatus();
}

absl::Status CudaLoadedModel::CheckMemory(const CurrentContext& current,
                                          const VariantDraft& draft) const {
  const int64_t weights = weights_.BytesToUpload();
  const int64_t arena = draft.lane->arena().BytesToGrow(draft.arena_bytes);
  int64_t banks = 0;
  for (int i = 0; i < kBanks; ++i) {
    banks += draft.lane->bank(i).BytesToGrow(
        static_cast<int64_t>(draft.layout.bytes));
  }
  REPRISE_ASSIGN_OR_RETURN(const MemoryInfo memory, DeviceMemoryInfo(current));
  if (weights + arena + banks <= memory.free - kReserve) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "it needs ", weights, " bytes for weights, ", arena,
      " for activations and ", banks, " for inputs and outputs, and ",
      memory.free, " are free, of which ", kReserve, " are kept"));
}

absl::Status CudaLoadedModel::TakeMemory(const CurrentContext& current,
                                         VariantDraft& draft) {
  const auto layout_bytes = static_cast<int64_t>(draft.layout.bytes);
  const auto work = [&]() -> absl::Status {
    REPRISE_ASSIGN_OR_RETURN(draft.holds.arena,
                             draft.lane->arena().Reserve(draft.arena_bytes));
    for (int i = 0; i < kBanks; ++i) {
      REPRISE_ASSIGN_OR_RETURN(draft.holds.banks[static_cast<size_t>(i)],
                               draft.lane->bank(i).Reserve(layout_bytes));
    }
    return absl::OkStatus();
  };
  REPRISE_RETURN_IF_ERROR(host_.steps.Run(LoadStep::kMapMemory, work));
  REPRISE_RETURN_IF_ERROR(weights_.Upload(current, draft.lane->copy_in()));
  REPRISE_ASSIGN_OR_RETURN(draft.holds.slots,
                           host_.slots.Require(draft.layout));
  REPRISE_RETURN_IF_ERROR(draft.slot.Grow(draft.layout, host_.allocate));
  draft.slot.Use(draft.layout);
  return absl::OkStatus();
}

// Null: nothing is compared.
absl::StatusOr<std::unique_ptr<LoadedModel>> CudaLoadedModel::LoadReference()
    const {
  if (!host_.reference) return nullptr;
  LoadOptions options = options_;
  options.precision = "fp32";
  options.may_drop_rungs = false;
  auto reference = host_.reference(source_, signature_, options);
  if (reference.ok()) return reference;
  return Annotate(reference.status(), "loading it to verify the GPU");
}

absl::Status CudaLoadedModel::Try(const VariantKey& dims, bool first,
                                  CudaExecutable& executable,
                                  VariantDraft& draft) {
  RungTrials trials(host_, lowering_.precision, executable, draft);
  REPRISE_RETURN_IF_ERROR(trials.CheckReplays(options_.model));
  if (first) {
    REPRISE_RETURN_IF_ERROR(trials.CheckRows());
    REPRISE_ASSIGN_OR_RETURN(const std::unique_ptr<LoadedModel> reference,
                             LoadReference());
    if (reference != nullptr) {
      REPRISE_ASSIGN_OR_RETURN(const std::unique_ptr<Executable> row,
                               reference->Prepare(dims, {1}, /*lane=*/0));
      REPRISE_RETURN_IF_ERROR(trials.CompareWith(*row));
    }
  }
  return trials.Time();
}

absl::StatusOr<std::unique_ptr<Executable>> CudaLoadedModel::Prepare(
    const VariantKey& dims, const std::vector<int>& ladder, int lane) {
  REPRISE_RETURN_IF_ERROR(CheckVariant(signature_, dims, ladder));
  REPRISE_ASSIGN_OR_RETURN(const CurrentContext current,
                           CurrentContext::Enter(host_.context));
  VariantDraft draft;
  // Of a load that fails; else the executable has them.
  const absl::Cleanup drop_graphs = [&] {
    if (draft.rungs.empty()) return;
    host_.measured.Free(current, MemoryUse::kGraphs,
                        [&] { draft.rungs.clear(); });
  };
  REPRISE_ASSIGN_OR_RETURN(draft.lane, host_.lane(lane));
  draft.signature = BindSymbols(signature_, dims);
  const std::vector<int>* const kept = choices_.Find(dims, ladder);
  const std::vector<int> rungs = kept != nullptr ? *kept : ladder;
  const bool first = kept == nullptr;
  draft.may_leave_out = first && !host_.strict_graphs;
  if (first && signature_.batched) {
    REPRISE_RETURN_IF_ERROR(ops::FollowBatch(*graph_, signature_, dims, rungs));
  }
  REPRISE_RETURN_IF_ERROR(LowerRungs(dims, rungs, draft));
  REPRISE_RETURN_IF_ERROR(LoadModules(current, draft));
  REPRISE_RETURN_IF_ERROR(LoadKernels(current, draft));
  REPRISE_RETURN_IF_ERROR(CheckMemory(current, draft));
  REPRISE_RETURN_IF_ERROR(TakeMemory(current, draft));
  RungCapture capture(host_, current, weights_.addresses(), products_);
  REPRISE_RETURN_IF_ERROR(capture.CaptureAll(options_.model, draft));
  auto executable = MakeExecutable(draft);
  REPRISE_RETURN_IF_ERROR(Try(dims, first, *executable, draft));
  std::vector<size_t> worth(draft.ladder.size());
  std::iota(worth.begin(), worth.end(), size_t{0});
  if (first) {
    if (options_.may_drop_rungs) {
      worth = DropSlowRungs(options_.model, draft.ladder);
    }
    std::vector<int> rows;
    for (const Rung& rung : draft.ladder) rows.push_back(rung.rows);
    choices_.Keep(dims, ladder, std::move(rows));
  }
  executable->KeepRungs(worth, std::move(draft.ladder));
  return executable;
}

std::unique_ptr<CudaExecutable> CudaLoadedModel::MakeExecutable(
    VariantDraft& draft) const {
  const CudaShared shared{host_.context, *draft.lane,     host_.slots,
                          host_.records, host_.attention, host_.measured,
                          host_.clock,   host_.observer};
  return std::make_unique<CudaExecutable>(
      shared, draft.signature, draft.ladder, std::exchange(draft.rungs, {}),
      draft.layout, ArenaNeed{draft.arena_bytes, draft.live_bytes},
      std::move(draft.holds));
}

}  // namespace reprise::cuda
