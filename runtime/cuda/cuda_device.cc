#include "runtime/cuda/cuda_device.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/kernels.h"
#include "runtime/cuda/pinned_slot_memory.h"

namespace reprise::cuda {
namespace {

class CudaDevice final : public Device {
 public:
  static absl::StatusOr<std::unique_ptr<Device>> Create(
      const Driver& driver, const GpuInfo& gpu,
      const CudaDeviceOptions& options, Clock& clock);

  std::optional<int> gpu_index() const override { return gpu_.ordinal; }
  absl::StatusOr<std::unique_ptr<LoadedModel>> Load(
      std::shared_ptr<const graph::Graph> graph, const Signature& signature,
      const LoadOptions& options) override;
  void Wake() override { attention_.Wake(); }
  DeviceMemory memory() const override;
  bool is_lost_when_stuck() const override { return true; }
  LoadSteps* load_steps() override { return &steps_; }
  void Observe(DeviceObserver* observer) override { observer_ = observer; }

 private:
  CudaDevice(const GpuInfo& gpu, const CudaDeviceOptions& options, Clock& clock,
             std::unique_ptr<PrimaryContext> context, CurrentContext current,
             std::optional<CublasLtHandle> products, RunRecord trial)
      : gpu_(gpu),
        options_(options),
        clock_(clock),
        context_(std::move(context)),
        current_(std::move(current)),
        products_(std::move(products)),
        attention_(clock),
        steps_(clock, options.load_step),
        measured_(steps_),
        pinned_(*context_, steps_),
        allocate_([this](size_t bytes) { return pinned_.Allocate(bytes); }),
        slots_(allocate_),
        trial_(std::move(trial)) {}

  absl::StatusOr<Lane*> LaneFor(int index) ABSL_LOCKS_EXCLUDED(mu_);
  int64_t BankBytes() const ABSL_LOCKS_EXCLUDED(mu_);

  const GpuInfo gpu_;
  const CudaDeviceOptions options_;
  Clock& clock_;
  const std::unique_ptr<PrimaryContext> context_;
  const CurrentContext current_;  // of the thread that made this
  const std::optional<CublasLtHandle> products_;
  DeviceObserver* observer_ = nullptr;  // set before the first load
  Attention attention_;
  LoadSteps steps_;
  MeasuredSteps measured_;
  Modules modules_;
  PinnedSlotMemory pinned_;
  const SlotAllocator allocate_;
  SlotPool slots_;
  RunRecords records_;  // of the pool's slots
  RunRecord trial_;     // of the loaders' runs

  mutable absl::Mutex mu_;
  std::map<int, std::unique_ptr<Lane>> lanes_ ABSL_GUARDED_BY(mu_);
};

absl::StatusOr<std::unique_ptr<Device>> CudaDevice::Create(
    const Driver& driver, const GpuInfo& gpu, const CudaDeviceOptions& options,
    Clock& clock) {
  REPRISE_ASSIGN_OR_RETURN(std::unique_ptr<PrimaryContext> context,
                           PrimaryContext::Retain(driver, gpu.device));
  REPRISE_ASSIGN_OR_RETURN(CurrentContext current,
                           CurrentContext::Enter(*context));
  std::optional<CublasLtHandle> products;
  if (options.cublaslt != nullptr) {
    REPRISE_ASSIGN_OR_RETURN(
        products, CublasLtHandle::Create(*options.cublaslt, current));
  }
  REPRISE_ASSIGN_OR_RETURN(RunRecord trial, RunRecord::Create(current));
  auto device = absl::WrapUnique(new CudaDevice(
      gpu, options, clock, std::move(context), std::move(current),
      std::move(products), std::move(trial)));
  std::vector<KernelImage> images = options.kernels_instead;
  for (const KernelImage& image : KernelImages()) images.push_back(image);
  for (const KernelImage& image : images) {
    REPRISE_RETURN_IF_ERROR(
        device->modules_.Add(device->current_, image.name, image.fatbin));
  }
  return std::unique_ptr<Device>(std::move(device));
}

absl::StatusOr<std::unique_ptr<LoadedModel>> CudaDevice::Load(
    std::shared_ptr<const graph::Graph> graph, const Signature& signature,
    const LoadOptions& options) {
  LoweringOptions lowering;
  lowering.arch = gpu_.major * 10 + gpu_.minor;
  lowering.has_cublaslt = products_.has_value();
  const CudaModelHost host{
      .context = *context_,
      .lane = [this](int lane) { return LaneFor(lane); },
      .slots = slots_,
      .allocate = allocate_,
      .records = records_,
      .trial = trial_,
      .attention = attention_,
      .measured = measured_,
      .steps = steps_,
      .modules = modules_,
      .products = products_.has_value() ? &*products_ : nullptr,
      .clock = clock_,
      .evaluate = options_.evaluate,
      .reference = options_.reference,
      .lowering = lowering,
      .strict_graphs = options_.strict_graphs,
      .observer = observer_,
      .probe = options_.probe};
  auto model =
      CudaLoadedModel::Create(host, std::move(graph), signature, options);
  if (!model.ok()) {
    return Annotate(model.status(), absl::StrCat("model ", options.model));
  }
  return std::unique_ptr<LoadedModel>(*std::move(model));
}

DeviceMemory CudaDevice::memory() const {
  DeviceMemory memory;
  memory.slots = slots_.bytes();
  memory.code = measured_.bytes(MemoryUse::kCode);
  memory.graphs = measured_.bytes(MemoryUse::kGraphs);
  memory.banks = BankBytes();
  const auto current = CurrentContext::Enter(*context_);
  if (!current.ok()) {
    LogError(current.status().message());
    return memory;
  }
  const auto info = DeviceMemoryInfo(*current);
  if (!info.ok()) {
    LogError(info.status().message());
    return memory;
  }
  memory.total = info->total;
  memory.free = info->free;
  return memory;
}

int64_t CudaDevice::BankBytes() const {
  int64_t bytes = 0;
  absl::MutexLock lock(&mu_);
  for (const auto& [index, lane] : lanes_) {
    for (int i = 0; i < kBanks; ++i) bytes += lane->bank(i).mapped();
  }
  return bytes;
}

// A lane's addresses suffice for all that the GPU has memory for.
absl::StatusOr<Lane*> CudaDevice::LaneFor(int index) {
  if (index < 0) {
    return absl::InvalidArgumentError(absl::StrCat("lane ", index));
  }
  absl::MutexLock lock(&mu_);
  std::unique_ptr<Lane>& lane = lanes_[index];
  if (lane != nullptr) return lane.get();
  const absl::Status status = [&]() -> absl::Status {
    REPRISE_ASSIGN_OR_RETURN(const CurrentContext current,
                             CurrentContext::Enter(*context_));
    REPRISE_ASSIGN_OR_RETURN(
        auto made, Lane::Create(current, modules_, gpu_.total_memory));
    REPRISE_RETURN_IF_ERROR(records_.Add(current, options_.slots_per_lane));
    REPRISE_RETURN_IF_ERROR(slots_.Add(options_.slots_per_lane));
    lane = std::move(made);
    return absl::OkStatus();
  }();
  if (!status.ok()) {
    lanes_.erase(index);
    return status;
  }
  return lane.get();
}

absl::Status Validate(const CudaDeviceOptions& options) {
  if (options.slots_per_lane < 2) {
    return absl::InvalidArgumentError(
        "GPU device: slots_per_lane is less than 2");
  }
  if (!options.evaluate) {
    return absl::InvalidArgumentError("GPU device: evaluate is not set");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> MakeCudaDevice(
    const Driver& driver, const GpuInfo& gpu, const CudaDeviceOptions& options,
    Clock& clock) {
  REPRISE_RETURN_IF_ERROR(Validate(options));
  auto device = CudaDevice::Create(driver, gpu, options, clock);
  if (device.ok()) return device;
  return Annotate(device.status(), absl::StrCat("GPU ", gpu.ordinal));
}

}  // namespace reprise::cuda
