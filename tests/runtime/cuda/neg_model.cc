#include "tests/runtime/cuda/neg_model.h"

#include <cstring>
#include <utility>

#include "absl/time/time.h"
#include "runtime/base/status_macros.h"
#include "runtime/cpu/evaluate.h"
#include "runtime/cuda/cuda_devices.h"
#include "runtime/cuda/kernels/params.h"
#include "runtime/onnx/importer.h"
#include "runtime/ops/infer_signature.h"
#include "tests/testing/fake_stamps.h"
#include "tests/testing/onnx_builder.h"

namespace reprise::cuda {
namespace {

onnx_import::ImportOptions NoOptions() { return {}; }

void Negate(const float* x, float* y, size_t count) {
  for (size_t i = 0; i < count; ++i) y[i] = -x[i];
}

}  // namespace

std::shared_ptr<const graph::Graph> NegGraph() {
  testing::OnnxBuilder model(13);
  model.Input("x", {"N", static_cast<int64_t>(NegModel::kRow)})
      .Node("Neg", {"x"}, {"y"})
      .Output("y", {"N", static_cast<int64_t>(NegModel::kRow)});
  auto graph = onnx_import::ImportModel(model.Bytes(), NoOptions());
  return std::make_shared<graph::Graph>(*std::move(graph));
}

Signature NegSignature() {
  auto inferred = ops::InferSignature(*NegGraph(), {});
  return inferred->signature;
}

NegModel::NegModel(Kernel kernel) {
  if (kernel == nullptr) kernel = Negate;
  const auto run = [kernel](const testing::FakeKernelCall& call) {
    const auto count =
        static_cast<size_t>(call.Value<kernels::UnaryParams>(2).elements);
    const auto* const x = call.Pointer<float>(0, count);
    auto* const y = call.Pointer<float>(1, count);
    if (x != nullptr && y != nullptr) kernel(x, y, count);
  };
  cuda.AddKernel(
      kKernel,
      {sizeof(CUdeviceptr), sizeof(CUdeviceptr), sizeof(kernels::UnaryParams)},
      run);
  testing::AddStampKernels(cuda);
}

absl::StatusOr<LoadedModel*> NegModel::Load(CudaDeviceOptions options) {
  REPRISE_ASSIGN_OR_RETURN(const std::vector<GpuInfo> gpus,
                           ListGpus(cuda.driver(), std::nullopt));
  if (!options.evaluate) options.evaluate = cpu::EvaluateNode;
  REPRISE_ASSIGN_OR_RETURN(
      device, MakeCudaDevice(cuda.driver(), gpus.front(), options, clock));
  device->Observe(&observer);
  REPRISE_ASSIGN_OR_RETURN(
      model, device->Load(NegGraph(), NegSignature(), {.model = "neg/1"}));
  return model.get();
}

absl::StatusOr<std::unique_ptr<Executable>> NegModel::Prepare(
    const std::vector<int>& ladder) {
  return model->Prepare({}, ladder, /*lane=*/0);
}

absl::StatusOr<std::vector<float>> NegModel::Run(
    Executable& executable, const std::vector<float>& row) {
  const SlotLease slot = executable.AcquireSlot();
  if (!slot) return absl::ResourceExhaustedError("no slot");
  std::memcpy(slot->input(0).data(), row.data(), row.size() * sizeof(float));
  REPRISE_RETURN_IF_ERROR(executable.Submit(*slot, 1));
  REPRISE_RETURN_IF_ERROR(
      executable.Wait(*slot, absl::InfiniteFuture()).status());
  std::vector<float> answer(row.size());
  std::memcpy(answer.data(), slot->output(0).data(),
              answer.size() * sizeof(float));
  return answer;
}

}  // namespace reprise::cuda
