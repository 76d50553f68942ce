#include "runtime/cuda/cuda_loaded_model.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/cuda_lowering.h"
#include "runtime/ops/fold_constants.h"
#include "runtime/ops/follow_batch.h"
#include "runtime/ops/fuse.h"
#include "runtime/prepare/bind_signature.h"
#include "runtime/prepare/canary.h"
#include "runtime/prepare/fusion_choice.h"
#include "runtime/prepare/time_rungs.h"

namespace reprise::cuda {
namespace {

// Bytes of which NaN are made, whatever the type of a float.
constexpr unsigned char kPoison = 0xff;

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

}  // namespace

absl::StatusOr<std::unique_ptr<CudaLoadedModel>> CudaLoadedModel::Create(
    CudaModelHost host, const graph::Graph& graph, Signature signature,
    LoadOptions options) {
  REPRISE_RETURN_IF_ERROR(RefuseStrings(signature));
  REPRISE_ASSIGN_OR_RETURN(const ops::FuseOptions fusions,
                           FuseOptionsWithout(options.fusions_off, "the GPU"));
  REPRISE_ASSIGN_OR_RETURN(const Precision precision,
                           ParsePrecision(options.precision));
  auto copy = std::make_unique<graph::Graph>(graph);
  REPRISE_RETURN_IF_ERROR(
      ops::FoldConstants(*copy, {}, host.evaluate).status());
  REPRISE_RETURN_IF_ERROR(ops::Fuse(*copy, fusions).status());
  auto model = absl::WrapUnique(
      new CudaLoadedModel(std::move(host), std::move(copy),
                          std::move(signature), std::move(options)));
  model->lowering_.precision = precision;
  return model;
}

CudaLoadedModel::CudaLoadedModel(CudaModelHost host,
                                 std::unique_ptr<const graph::Graph> graph,
                                 Signature signature, LoadOptions options)
    : host_(std::move(host)),
      graph_(std::move(graph)),
      signature_(std::move(signature)),
      options_(std::move(options)),
      lowering_(host_.lowering),
      weights_(host_.context, host_.steps) {}

absl::Status CudaLoadedModel::LowerRungs(const VariantKey& dims,
                                         const std::vector<int>& ladder,
                                         Draft& draft) {
  for (const int rows : ladder) {
    REPRISE_ASSIGN_OR_RETURN(const ops::BoundGraph bound,
                             ops::Bind(*graph_, signature_, rows, dims));
    REPRISE_RETURN_IF_ERROR(BindOutputs(bound, rows, draft.signature));
    REPRISE_ASSIGN_OR_RETURN(Program program,
                             Lower(bound, weights_.list(), lowering_));
    draft.arena_bytes = std::max(draft.arena_bytes, program.plan.arena_bytes);
    draft.programs.push_back(std::move(program));
    draft.ladder.emplace_back();
    draft.ladder.back().rows = rows;
  }
  REPRISE_ASSIGN_OR_RETURN(draft.layout,
                           MakeSlotLayout(draft.signature, ladder.back()));
  return absl::OkStatus();
}

absl::Status CudaLoadedModel::LoadModules(const CurrentContext& current,
                                          const Draft& draft) {
  for (const Program& program : draft.programs) {
    for (const GeneratedModule& module : program.modules) {
      if (modules_.contains(module.name)) continue;
      REPRISE_RETURN_IF_ERROR(host_.steps.Run(LoadStep::kLoadModule, [&] {
        const auto bytes =
            std::as_bytes(std::span(module.ptx.c_str(), module.ptx.size() + 1));
        return host_.modules.Add(current, module.name, bytes);
      }));
      modules_.insert(module.name);
    }
  }
  return absl::OkStatus();
}

// Looking a kernel up loads it.
absl::Status CudaLoadedModel::LoadKernels(const CurrentContext& current,
                                          const Draft& draft) {
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
    REPRISE_RETURN_IF_ERROR(host_.steps.Run(LoadStep::kLoadModule, find));
  }
  return absl::OkStatus();
}

absl::Status CudaLoadedModel::CheckMemory(const CurrentContext& current,
                                          const Draft& draft) const {
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
                                         Draft& draft) {
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

// Largest first: where memory is short, that shows at once.
absl::Status CudaLoadedModel::CaptureRungs(const CurrentContext& current,
                                           Draft& draft) {
  REPRISE_ASSIGN_OR_RETURN(const UniqueStream stream, MakeStream(current));
  draft.rungs.resize(draft.programs.size());
  draft.expected.resize(draft.programs.size());
  FillWithSamples(draft.signature, draft.ladder.back().rows,
                  draft.slot.input_rows());
  for (size_t i = draft.programs.size(); i-- > 0;) {
    for (int turn = 0; turn < kBanks; ++turn) {
      REPRISE_ASSIGN_OR_RETURN(BoundProgram program,
                               BindTo(current, turn, draft.programs[i], draft));
      if (turn == 0) {
        REPRISE_RETURN_IF_ERROR(LoadProducts(program, draft));
        REPRISE_RETURN_IF_ERROR(WarmUp(program, i, draft));
      }
      const absl::Time begun = host_.clock.Now();
      auto captured = Capture(current, program, stream.get());
      if (!captured.ok()) {
        return Annotate(captured.status(),
                        absl::StrCat("rung ", draft.ladder[i].rows));
      }
      if (host_.observer != nullptr) {
        host_.observer->Captured(host_.clock.Now() - begun);
      }
      draft.rungs[i].graphs[static_cast<size_t>(turn)] = *std::move(captured);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<BoundProgram> CudaLoadedModel::BindTo(
    const CurrentContext& current, int turn, const Program& program,
    const Draft& draft) {
  const CUdeviceptr bank = draft.lane->bank(turn).address();
  const std::vector<CUdeviceptr> inputs =
      AddressesIn(bank, draft.layout.inputs);
  const std::vector<CUdeviceptr> outputs =
      AddressesIn(bank, draft.layout.outputs);
  return BoundProgram::Create(current, program,
                              {.arena = draft.lane->arena().address(),
                               .constants = weights_.addresses(),
                               .inputs = inputs,
                               .outputs = outputs},
                              host_.modules, host_.products);
}

absl::Status CudaLoadedModel::LoadProducts(BoundProgram& program,
                                           const Draft& draft) {
  const Driver& driver = host_.context.driver();
  const CUstream stream = draft.lane->compute();
  for (const size_t product : program.NewProducts(products_)) {
    const auto load = [&]() -> absl::Status {
      REPRISE_RETURN_IF_ERROR(program.IssueOnly(product, driver, stream));
      return ToStatus(driver, driver.StreamSynchronize(stream),
                      "loading a matrix product");
    };
    REPRISE_RETURN_IF_ERROR(host_.steps.Run(LoadStep::kLoadModule, load));
  }
  return absl::OkStatus();
}

// Runs the rung without a graph, out of bank 0, over a poisoned arena.
absl::Status CudaLoadedModel::WarmUp(BoundProgram& program, size_t rung,
                                     Draft& draft) {
  const Driver& driver = host_.context.driver();
  const CUstream stream = draft.lane->compute();
  const CUdeviceptr bank = draft.lane->bank(0).address();
  const SlotBuffers buffers = draft.slot.buffers();
  const auto rows = static_cast<size_t>(draft.ladder[rung].rows);
  const auto work = [&]() -> absl::Status {
    REPRISE_RETURN_IF_ERROR(PoisonArena(draft));
    for (size_t k = 0; k < draft.layout.inputs.size(); ++k) {
      const SlotLayout::Tensor& tensor = draft.layout.inputs[k];
      if (tensor.row_bytes == 0) continue;
      REPRISE_RETURN_IF_ERROR(ToStatus(
          driver,
          driver.MemcpyHtoDAsync(bank + tensor.offset, buffers.inputs[k],
                                 rows * tensor.row_bytes, stream),
          "copying samples to the device"));
    }
    REPRISE_RETURN_IF_ERROR(program.Issue(driver, stream));
    if (host_.observer != nullptr) host_.observer->Ran(RunKind::kWarmUp);
    for (size_t k = 0; k < draft.layout.outputs.size(); ++k) {
      const SlotLayout::Tensor& tensor = draft.layout.outputs[k];
      if (tensor.row_bytes == 0) continue;
      REPRISE_RETURN_IF_ERROR(ToStatus(
          driver,
          driver.MemcpyDtoHAsync(buffers.outputs[k], bank + tensor.offset,
                                 rows * tensor.row_bytes, stream),
          "copying answers from the device"));
    }
    return ToStatus(driver, driver.StreamSynchronize(stream),
                    "a run that is not captured");
  };
  REPRISE_RETURN_IF_ERROR(host_.steps.Run(LoadStep::kWarmUp, work));
  for (const TensorRows& tensor : draft.slot.output_rows()) {
    draft.expected[rung].emplace_back(tensor.data,
                                      tensor.data + rows * tensor.row_bytes);
  }
  return absl::OkStatus();
}

absl::Status CudaLoadedModel::PoisonArena(const Draft& draft) const {
  if (draft.arena_bytes == 0) return absl::OkStatus();
  const Driver& driver = host_.context.driver();
  return ToStatus(driver,
                  driver.MemsetD8Async(draft.lane->arena().address(), kPoison,
                                       static_cast<size_t>(draft.arena_bytes),
                                       draft.lane->compute()),
                  "poisoning the arena");
}

absl::StatusOr<CapturedGraph> CudaLoadedModel::Capture(
    const CurrentContext& current, BoundProgram& program, CUstream stream) {
  const Driver& driver = current.driver();
  size_t nodes = 0;
  REPRISE_ASSIGN_OR_RETURN(
      UniqueGraph graph,
      Record(
          current, stream,
          [&](CUstream to) { return program.Issue(driver, to); },
          {.least_nodes = program.actions()}, &nodes));
  CapturedGraph captured;
  const auto instantiate = [&]() -> absl::Status {
    REPRISE_ASSIGN_OR_RETURN(captured,
                             Instantiate(current, std::move(graph), nodes));
    return absl::OkStatus();
  };
  REPRISE_RETURN_IF_ERROR(host_.steps.Run(LoadStep::kInstantiate, instantiate));
  const auto upload = [&]() -> absl::Status {
    REPRISE_RETURN_IF_ERROR(
        ToStatus(driver, driver.GraphUpload(captured.exec.get(), stream),
                 "cuGraphUpload"));
    return ToStatus(driver, driver.StreamSynchronize(stream), "cuGraphUpload");
  };
  REPRISE_RETURN_IF_ERROR(host_.steps.Run(LoadStep::kUploadGraph, upload));
  return captured;
}

absl::StatusOr<RunTimes> CudaLoadedModel::Replay(CudaExecutable& executable,
                                                 Draft& draft, size_t rung,
                                                 RunKind kind) {
  RunTimes times;
  const auto work = [&]() -> absl::Status {
    if (kind == RunKind::kCheck) REPRISE_RETURN_IF_ERROR(PoisonArena(draft));
    REPRISE_ASSIGN_OR_RETURN(
        times, executable.RunForLoader(draft.slot, host_.trial,
                                       static_cast<int>(rung), kind));
    return absl::OkStatus();
  };
  REPRISE_RETURN_IF_ERROR(host_.steps.Run(LoadStep::kReplay, work));
  return times;
}

// Every rung, out of each bank, over a poisoned arena: what it makes of the
// samples is what the run that was not captured has made.
absl::Status CudaLoadedModel::CheckReplays(CudaExecutable& executable,
                                           Draft& draft) {
  FillWithSamples(draft.signature, draft.ladder.back().rows,
                  draft.slot.input_rows());
  for (size_t i = draft.rungs.size(); i-- > 0;) {
    const auto rows = static_cast<size_t>(draft.ladder[i].rows);
    for (int turn = 0; turn < kBanks; ++turn) {
      REPRISE_RETURN_IF_ERROR(
          Replay(executable, draft, i, RunKind::kCheck).status());
      const std::vector<TensorRows> outputs = draft.slot.output_rows();
      for (size_t k = 0; k < outputs.size(); ++k) {
        const TensorSpec& spec = draft.signature.outputs[k];
        const std::string difference = Difference(
            spec.dtype, {outputs[k].data, rows * outputs[k].row_bytes},
            draft.expected[i][k], kSameCode);
        if (difference.empty()) continue;
        return absl::FailedPreconditionError(
            absl::StrCat("rung ", rows, ": output '", spec.name, "' is ",
                         difference, " replayed and not captured"));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CudaLoadedModel::TimeReplays(CudaExecutable& executable,
                                          Draft& draft) {
  const auto time = [&](size_t rung) -> absl::StatusOr<absl::Duration> {
    REPRISE_ASSIGN_OR_RETURN(const RunTimes times,
                             Replay(executable, draft, rung, RunKind::kTiming));
    return times.graph;
  };
  return TimeRungs(host_.clock, time, draft.ladder);
}

absl::StatusOr<std::unique_ptr<Executable>> CudaLoadedModel::Prepare(
    const VariantKey& dims, const std::vector<int>& ladder, int lane) {
  REPRISE_RETURN_IF_ERROR(CheckVariant(signature_, dims, ladder));
  REPRISE_ASSIGN_OR_RETURN(const CurrentContext current,
                           CurrentContext::Enter(host_.context));
  Draft draft;
  REPRISE_ASSIGN_OR_RETURN(draft.lane, host_.lane(lane));
  draft.signature = BindSymbols(signature_, dims);
  const std::vector<int>* const kept = choices_.Find(dims, ladder);
  const std::vector<int> rungs = kept != nullptr ? *kept : ladder;
  const bool first = kept == nullptr;
  if (first && signature_.batched) {
    REPRISE_RETURN_IF_ERROR(ops::FollowBatch(*graph_, signature_, dims, rungs));
  }
  REPRISE_RETURN_IF_ERROR(LowerRungs(dims, rungs, draft));
  REPRISE_RETURN_IF_ERROR(LoadModules(current, draft));
  REPRISE_RETURN_IF_ERROR(LoadKernels(current, draft));
  REPRISE_RETURN_IF_ERROR(CheckMemory(current, draft));
  REPRISE_RETURN_IF_ERROR(TakeMemory(current, draft));
  REPRISE_RETURN_IF_ERROR(CaptureRungs(current, draft));

  const CudaShared shared{host_.context,     *draft.lane,     host_.slots,
                          host_.records,     host_.attention, host_.clock,
                          host_.graph_clock, host_.observer};
  auto executable = std::make_unique<CudaExecutable>(
      shared, draft.signature, draft.ladder, std::move(draft.rungs),
      draft.layout, draft.arena_bytes, std::move(draft.holds));
  draft.rungs.resize(draft.ladder.size());
  REPRISE_RETURN_IF_ERROR(CheckReplays(*executable, draft));
  if (first) {
    const std::vector<TensorRows> inputs = draft.slot.input_rows();
    const std::vector<TensorRows> outputs = draft.slot.output_rows();
    REPRISE_RETURN_IF_ERROR(CheckRowsIndependent(
        {draft.signature, rungs, inputs, outputs,
         [&](size_t rung) {
           return Replay(*executable, draft, rung, RunKind::kCanary).status();
         },
         BetweenRungs(lowering_.precision)}));
    FillWithSamples(draft.signature, rungs.back(), inputs);
  }
  REPRISE_RETURN_IF_ERROR(TimeReplays(*executable, draft));
  std::vector<size_t> worth(draft.ladder.size());
  for (size_t i = 0; i < worth.size(); ++i) worth[i] = i;
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

}  // namespace reprise::cuda
