#include "runtime/cuda/rung_capture.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/stream.h"
#include "runtime/device/fault.h"
#include "runtime/prepare/canary.h"

namespace reprise::cuda {
namespace {

// The first and the last of a graph.
constexpr size_t kStampNodes = 2;

}  // namespace

absl::Status FillWritten(const Driver& driver, const VariantDraft& draft,
                         unsigned char value) {
  Lane& lane = *draft.lane;
  const auto fill = [&](CUdeviceptr at, size_t bytes) {
    if (bytes == 0) return absl::OkStatus();
    return ToStatus(driver,
                    driver.MemsetD8Async(at, value, bytes, lane.compute()),
                    "filling what a run writes");
  };
  const auto rows = static_cast<size_t>(draft.ladder.back().rows);
  REPRISE_RETURN_IF_ERROR(
      fill(lane.arena().address(), static_cast<size_t>(draft.arena_bytes)));
  for (int i = 0; i < kBanks; ++i) {
    for (const SlotLayout::Tensor& tensor : draft.layout.outputs) {
      REPRISE_RETURN_IF_ERROR(fill(lane.bank(i).address() + tensor.offset,
                                   rows * tensor.row_bytes));
    }
  }
  return absl::OkStatus();
}

bool MayLeaveOut(const VariantDraft& draft, size_t rung,
                 const absl::Status& status) {
  return draft.may_leave_out && rung + 1 < draft.ladder.size() &&
         !IsDeviceFault(status);
}

void LogLeftOut(const CudaModelHost& host, const std::string& model,
                const absl::Status& status) {
  LogWarning(absl::StrCat("left out of the ladder: model=", LogValue(model),
                          " reason=", LogValue(status.message())));
  if (host.observer != nullptr) host.observer->LeftOut();
}

absl::Status RungCapture::CaptureAll(const std::string& model,
                                     VariantDraft& draft) {
  REPRISE_ASSIGN_OR_RETURN(const UniqueStream stream, MakeStream(current_));
  draft.rungs.resize(draft.programs.size());
  draft.expected.resize(draft.programs.size());
  FillWithSamples(draft.signature, draft.ladder.back().rows,
                  draft.slot.input_rows());
  std::vector<size_t> kept;
  for (size_t i = draft.programs.size(); i-- > 0;) {
    absl::Status status = CaptureRung(i, stream.get(), draft);
    if (status.ok()) {
      kept.push_back(i);
      continue;
    }
    status = Annotate(status, absl::StrCat("rung ", draft.ladder[i].rows));
    if (!MayLeaveOut(draft, i, status)) return status;
    LogLeftOut(host_, model, status);
  }
  std::reverse(kept.begin(), kept.end());
  draft.KeepRungs(kept);
  return absl::OkStatus();
}

absl::Status RungCapture::CaptureRung(size_t rung, CUstream stream,
                                      VariantDraft& draft) {
  for (int turn = 0; turn < kBanks; ++turn) {
    REPRISE_ASSIGN_OR_RETURN(BoundProgram program,
                             BindTo(turn, draft.programs[rung], draft));
    if (turn == 0) {
      REPRISE_RETURN_IF_ERROR(LoadProducts(program, draft));
      REPRISE_RETURN_IF_ERROR(WarmUp(program, rung, draft));
    }
    const absl::Time begun = host_.clock.Now();
    REPRISE_ASSIGN_OR_RETURN(
        draft.rungs[rung].graphs[static_cast<size_t>(turn)],
        Capture(program, draft.lane->stamps(), stream));
    if (host_.observer != nullptr) {
      host_.observer->Captured(host_.clock.Now() - begun);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<BoundProgram> RungCapture::BindTo(int turn,
                                                 const Program& program,
                                                 const VariantDraft& draft) {
  const CUdeviceptr bank = draft.lane->bank(turn).address();
  const std::vector<CUdeviceptr> inputs =
      AddressesIn(bank, draft.layout.inputs);
  const std::vector<CUdeviceptr> outputs =
      AddressesIn(bank, draft.layout.outputs);
  return BoundProgram::Create(current_, program,
                              {.arena = draft.lane->arena().address(),
                               .constants = constants_,
                               .inputs = inputs,
                               .outputs = outputs},
                              host_.modules, host_.products);
}

absl::Status RungCapture::LoadProducts(BoundProgram& program,
                                       const VariantDraft& draft) {
  const CUstream stream = draft.lane->compute();
  for (const size_t product : program.NewProducts(products_)) {
    const auto load = [&]() -> absl::Status {
      REPRISE_RETURN_IF_ERROR(program.IssueOnly(product, driver_, stream));
      return ToStatus(driver_, driver_.StreamSynchronize(stream),
                      "loading a matrix product");
    };
    REPRISE_RETURN_IF_ERROR(host_.measured.Run(current_, LoadStep::kLoadModule,
                                               MemoryUse::kCode, load));
  }
  return absl::OkStatus();
}

absl::Status RungCapture::WarmUp(BoundProgram& program, size_t rung,
                                 VariantDraft& draft) {
  const CUstream stream = draft.lane->compute();
  const CUdeviceptr bank = draft.lane->bank(0).address();
  const SlotBuffers buffers = draft.slot.buffers();
  const auto rows = static_cast<size_t>(draft.ladder[rung].rows);
  const auto work = [&]() -> absl::Status {
    REPRISE_RETURN_IF_ERROR(FillWritten(driver_, draft, kBeforeWarmUp));
    for (size_t k = 0; k < draft.layout.inputs.size(); ++k) {
      const SlotLayout::Tensor& tensor = draft.layout.inputs[k];
      if (tensor.row_bytes == 0) continue;
      REPRISE_RETURN_IF_ERROR(ToStatus(
          driver_,
          driver_.MemcpyHtoDAsync(bank + tensor.offset, buffers.inputs[k],
                                  rows * tensor.row_bytes, stream),
          "copying samples to the device"));
    }
    REPRISE_RETURN_IF_ERROR(program.Issue(driver_, stream));
    if (host_.observer != nullptr) host_.observer->Ran(RunKind::kWarmUp);
    for (size_t k = 0; k < draft.layout.outputs.size(); ++k) {
      const SlotLayout::Tensor& tensor = draft.layout.outputs[k];
      if (tensor.row_bytes == 0) continue;
      REPRISE_RETURN_IF_ERROR(ToStatus(
          driver_,
          driver_.MemcpyDtoHAsync(buffers.outputs[k], bank + tensor.offset,
                                  rows * tensor.row_bytes, stream),
          "copying answers from the device"));
    }
    return ToStatus(driver_, driver_.StreamSynchronize(stream),
                    "a run that is not captured");
  };
  REPRISE_RETURN_IF_ERROR(host_.steps.Run(LoadStep::kWarmUp, work));
  for (const TensorRows& tensor : draft.slot.output_rows()) {
    draft.expected[rung].emplace_back(tensor.data,
                                      tensor.data + rows * tensor.row_bytes);
  }
  return absl::OkStatus();
}

absl::StatusOr<CapturedGraph> RungCapture::Capture(BoundProgram& program,
                                                   const GraphStamps& stamps,
                                                   CUstream stream) {
  const auto issue = [&](CUstream to) -> absl::Status {
    if (host_.probe != nullptr) {
      REPRISE_RETURN_IF_ERROR(host_.probe->Begin(current_, to));
    }
    REPRISE_RETURN_IF_ERROR(stamps.Begin(to));
    REPRISE_RETURN_IF_ERROR(program.Issue(driver_, to));
    REPRISE_RETURN_IF_ERROR(stamps.End(to));
    return host_.probe != nullptr ? host_.probe->End(current_, to)
                                  : absl::OkStatus();
  };
  size_t nodes = 0;
  REPRISE_ASSIGN_OR_RETURN(
      UniqueGraph graph,
      Record(current_, stream, issue,
             {.least_nodes = program.actions() + kStampNodes}, &nodes));
  CapturedGraph captured;
  const auto instantiate = [&]() -> absl::Status {
    REPRISE_ASSIGN_OR_RETURN(captured,
                             Instantiate(current_, std::move(graph), nodes));
    return absl::OkStatus();
  };
  REPRISE_RETURN_IF_ERROR(host_.measured.Run(current_, LoadStep::kInstantiate,
                                             MemoryUse::kGraphs, instantiate));
  const auto upload = [&]() -> absl::Status {
    REPRISE_RETURN_IF_ERROR(
        ToStatus(driver_, driver_.GraphUpload(captured.exec.get(), stream),
                 "cuGraphUpload"));
    return ToStatus(driver_, driver_.StreamSynchronize(stream),
                    "cuGraphUpload");
  };
  REPRISE_RETURN_IF_ERROR(host_.measured.Run(current_, LoadStep::kUploadGraph,
                                             MemoryUse::kGraphs, upload));
  return captured;
}

}  // namespace reprise::cuda
