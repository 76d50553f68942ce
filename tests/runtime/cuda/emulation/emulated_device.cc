#include "tests/runtime/cuda/emulation/emulated_device.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "runtime/base/status_macros.h"
#include "runtime/cpu/evaluate.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/cuda_devices.h"
#include "runtime/cuda/cuda_loaded_model.h"
#include "runtime/cuda/cuda_lowering.h"
#include "runtime/ops/fold_constants.h"
#include "runtime/ops/fuse.h"
#include "runtime/prepare/fusion_choice.h"
#include "tests/runtime/cuda/emulation/block.h"
#include "tests/runtime/cuda/emulation/ptx.h"
#include "tests/testing/fake_cublaslt.h"
#include "tests/testing/fake_cuda.h"
#include "tests/testing/fake_stamps.h"

namespace reprise::emulation {
namespace {

using testing::FakeCublasLt;
using testing::FakeCuda;
using testing::FakeKernelCall;

// The names of the library's kernels, of what ptxas said as it compiled them.
std::set<std::string> KernelNames() {
  const std::string before = "Compiling entry function '";
  std::set<std::string> names;
  for (const absl::string_view path :
       absl::StrSplit(REPRISE_KERNEL_REPORTS, ':', absl::SkipEmpty())) {
    std::ifstream report{std::string(path)};
    for (std::string line; std::getline(report, line);) {
      const size_t at = line.find(before);
      if (at == std::string::npos) continue;
      const size_t begin = at + before.size();
      names.insert(line.substr(begin, line.find('\'', begin) - begin));
    }
  }
  return names;
}

// The kernels that a driver knows. It has all names from the start, as a module
// does; what they take is known from the launches of a program.
class Kernels {
 public:
  explicit Kernels(FakeCuda& cuda) : cuda_(cuda) {
    for (const std::string& name : KernelNames()) cuda_.AddKernel(name, {});
    testing::AddStampKernels(cuda_);
  }

  // Those that `program` launches.
  void Add(const cuda::Program& program) {
    for (const std::vector<cuda::Action>& actions : program.steps) {
      for (const cuda::Action& action : actions) {
        const auto* const launch = std::get_if<cuda::KernelLaunch>(&action);
        if (launch == nullptr || !known_.insert(launch->entry).second) continue;
        std::string ptx;  // empty: it is among the program's symbols
        for (const cuda::GeneratedModule& module : program.modules) {
          if (module.name == launch->entry) ptx = module.ptx;
        }
        AddOne(*launch, std::move(ptx));
      }
    }
  }

 private:
  void AddOne(const cuda::KernelLaunch& launch, std::string ptx) {
    std::vector<size_t> sizes;
    for (const cuda::Argument& argument : launch.arguments) {
      const auto* const bytes = std::get_if<std::vector<std::byte>>(&argument);
      sizes.push_back(bytes != nullptr ? bytes->size() : sizeof(CUdeviceptr));
    }
    cuda_.AddKernel(launch.entry, sizes,
                    [ptx = std::move(ptx)](const FakeKernelCall& call) {
                      RunOne(ptx, call);
                    });
  }

  // The struct comes last.
  static void RunOne(const std::string& ptx, const FakeKernelCall& call) {
    const testing::FakeLaunch& from = call.launch();
    const cuda::KernelLaunch launch{
        .entry = from.name,
        .grid = {from.grid[0], from.grid[1], from.grid[2]},
        .block = {from.block[0], from.block[1], from.block[2]},
        .shared_bytes = from.shared_bytes,
        .arguments = {}};
    std::vector<void*> pointers;
    for (size_t i = 0; i + 1 < from.arguments.size(); ++i) {
      pointers.push_back(call.Pointer<std::byte>(i, 1));
    }
    const std::vector<std::byte>& params = from.arguments.back();
    const absl::Status status = ptx.empty()
                                    ? RunKernel(launch, pointers, params)
                                    : RunPtx(ptx, launch, pointers, params);
    if (status.ok()) return;
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    std::abort();  // a launch cannot fail
  }

  FakeCuda& cuda_;
  std::set<std::string> known_;
};

// Tells the driver of a model's kernels before the model is prepared.
class EmulatedModel final : public LoadedModel {
 public:
  EmulatedModel(std::unique_ptr<LoadedModel> inner, graph::Graph graph,
                Signature signature, cuda::LoweringOptions lowering,
                Kernels& kernels)
      : inner_(std::move(inner)),
        graph_(std::move(graph)),
        signature_(std::move(signature)),
        lowering_(lowering),
        kernels_(kernels) {}

  absl::StatusOr<std::unique_ptr<Executable>> Prepare(
      const VariantKey& dims, const std::vector<int>& ladder,
      int lane) override {
    for (const int rows : ladder) {
      const auto bound = ops::Bind(graph_, signature_, rows, dims);
      if (!bound.ok()) break;  // which the device will say
      cuda::CudaWeights weights;
      const auto program = cuda::Lower(*bound, weights, lowering_);
      if (!program.ok()) break;
      kernels_.Add(*program);
    }
    return inner_->Prepare(dims, ladder, lane);
  }
  int64_t weight_bytes() const override { return inner_->weight_bytes(); }

 private:
  const std::unique_ptr<LoadedModel> inner_;
  const graph::Graph graph_;
  const Signature signature_;
  const cuda::LoweringOptions lowering_;
  Kernels& kernels_;
};

class EmulatedDevice final : public Device {
 public:
  static absl::StatusOr<std::unique_ptr<Device>> Create(Clock& clock) {
    auto device = std::make_unique<EmulatedDevice>();
    const cuda::Driver& driver = device->cuda_.driver();
    REPRISE_ASSIGN_OR_RETURN(const std::vector<cuda::GpuInfo> gpus,
                             cuda::ListGpus(driver, std::nullopt));
    cuda::CudaDeviceOptions options;
    options.evaluate = cpu::EvaluateNode;
    options.cublaslt = &device->products_.lt();
    REPRISE_ASSIGN_OR_RETURN(
        device->inner_,
        cuda::MakeCudaDevice(driver, gpus.front(), options, clock));
    return std::unique_ptr<Device>(std::move(device));
  }

  std::optional<int> gpu_index() const override { return inner_->gpu_index(); }
  absl::StatusOr<std::unique_ptr<LoadedModel>> Load(
      std::shared_ptr<const graph::Graph> graph, const Signature& signature,
      const LoadOptions& options) override {
    REPRISE_ASSIGN_OR_RETURN(auto inner,
                             inner_->Load(graph, signature, options));
    graph::Graph copy = *graph;
    REPRISE_RETURN_IF_ERROR(
        ops::FoldConstants(copy, {}, cpu::EvaluateNode).status());
    REPRISE_ASSIGN_OR_RETURN(
        const ops::FuseOptions fusions,
        FuseOptionsWithout(options.fusions_off, "the GPU"));
    REPRISE_RETURN_IF_ERROR(ops::Fuse(copy, fusions).status());
    REPRISE_ASSIGN_OR_RETURN(
        const cuda::LoweringOptions lowering,
        cuda::LoweringFor({.arch = 90, .has_cublaslt = true}, options));
    return std::make_unique<EmulatedModel>(std::move(inner), std::move(copy),
                                           signature, lowering, kernels_);
  }
  void Wake() override { inner_->Wake(); }
  DeviceMemory memory() const override { return inner_->memory(); }
  bool is_lost_when_stuck() const override { return true; }
  void Observe(DeviceObserver* observer) override { inner_->Observe(observer); }
  LoadSteps* load_steps() override { return inner_->load_steps(); }

 private:
  FakeCuda cuda_;
  FakeCublasLt products_{cuda_};
  Kernels kernels_{cuda_};
  std::unique_ptr<Device> inner_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> MakeEmulatedDevice(Clock& clock) {
  return EmulatedDevice::Create(clock);
}

}  // namespace reprise::emulation
