#include "server/devices.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "prometheus/gauge.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cpu/evaluate.h"
#ifdef REPRISE_HAS_CUDA
#include "runtime/cuda/cublaslt.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/cuda_devices.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/nvml.h"
#include "runtime/cuda/nvml_sensors.h"
#endif

namespace reprise {
namespace {

DeviceToMake Cpu(const ServerOptions& options, Clock& clock) {
  cpu::CpuDeviceOptions cpu;
  cpu.threads = options.cpu_threads;
  return {.gpu_index = std::nullopt,
          .make = [cpu, &clock] { return cpu::MakeCpuDevice(cpu, clock); }};
}

#ifdef REPRISE_HAS_CUDA

// The driver stays open for the life of the process.
const absl::StatusOr<cuda::Driver>& TheDriver() {
  static const auto& driver =
      *new absl::StatusOr<cuda::Driver>(cuda::LoadDriver());
  return driver;
}

// As the driver has it, 13000 for 13.0; 0: it does not say.
int CudaVersionOf(const cuda::Driver& driver) {
  int version = 0;
  return driver.DriverGetVersion(&version) == CUDA_SUCCESS ? version : 0;
}

// Null: there is none. It stays open as the driver does.
const cuda::CublasLt* TheCublasLt(const cuda::Driver& driver) {
  static const auto& lt = *new absl::StatusOr<cuda::CublasLt>([&driver] {
    auto loaded = cuda::LoadCublasLt(CudaVersionOf(driver));
    if (!loaded.ok()) {
      LogWarning(absl::StrCat(
          "matrix products on GPUs are slow without cuBLASLt reason=",
          LogValue(loaded.status().message())));
    }
    return loaded;
  }());
  return lt.ok() ? &*lt : nullptr;
}

absl::StatusOr<std::vector<cuda::GpuInfo>> FindGpus(
    const std::string& selection) {
  const absl::StatusOr<cuda::Driver>& driver = TheDriver();
  REPRISE_RETURN_IF_ERROR(driver.status());
  std::optional<std::string> visible;
  if (const char* value = std::getenv("CUDA_VISIBLE_DEVICES")) visible = value;
  REPRISE_ASSIGN_OR_RETURN(const std::vector<cuda::GpuInfo> gpus,
                           cuda::ListGpus(*driver, visible));
  return cuda::ChooseGpus(gpus, selection);
}

// Of one CPU device, made when it is first needed.
cuda::ReferenceFn OnCpu(const ServerOptions& options, Clock& clock) {
  struct State {
    absl::Mutex mu;
    std::unique_ptr<Device> device ABSL_GUARDED_BY(mu);
  };
  const auto state = std::make_shared<State>();
  const DeviceWorker::DeviceFactory make = Cpu(options, clock).make;
  return [state, make](std::shared_ptr<const graph::Graph> graph,
                       const Signature& signature, const LoadOptions& load)
             -> absl::StatusOr<std::unique_ptr<LoadedModel>> {
    absl::MutexLock lock(&state->mu);
    if (state->device == nullptr) {
      REPRISE_ASSIGN_OR_RETURN(state->device, make());
    }
    return state->device->Load(std::move(graph), signature, load);
  };
}

// NVML stays open as the driver does.
absl::StatusOr<std::unique_ptr<Sensors>> OpenSensors(const std::string& uuid) {
  static const auto& nvml = *new absl::StatusOr<cuda::Nvml>(cuda::LoadNvml());
  REPRISE_RETURN_IF_ERROR(nvml.status());
  return cuda::NvmlSensors::Open(*nvml, uuid);
}

absl::StatusOr<std::vector<DeviceToMake>> Gpus(const ServerOptions& options,
                                               Clock& clock) {
  REPRISE_ASSIGN_OR_RETURN(const std::vector<cuda::GpuInfo> gpus,
                           FindGpus(options.gpus));
  const cuda::Driver& driver = *TheDriver();
  const cuda::CublasLt* const cublaslt = TheCublasLt(driver);
  LogInfo(absl::StrCat(
      cuda::DriverLine(driver), " cublaslt=",
      cublaslt != nullptr ? cuda::CublasLtVersion(*cublaslt) : "none"));
  std::vector<DeviceToMake> devices;
  for (const cuda::GpuInfo& gpu : gpus) {
    LogInfo(cuda::GpuLine(gpu));
    cuda::CudaDeviceOptions cuda;
    cuda.evaluate = cpu::EvaluateNode;
    cuda.cublaslt = cublaslt;
    cuda.strict_graphs = options.strict_graphs;
    cuda.load_step = options.load_step;
    if (options.verify == VerifyChoice::kCpu) {
      cuda.reference = OnCpu(options, clock);
    }
    DeviceToMake device;
    device.gpu_index = gpu.ordinal;
    device.make = [=, &driver, &clock] {
      return cuda::MakeCudaDevice(driver, gpu, cuda, clock);
    };
    device.gpu = {.uuid = gpu.uuid,
                  .name = gpu.name,
                  .sm = absl::StrCat(gpu.major, gpu.minor)};
    device.sensors = [uuid = gpu.uuid] { return OpenSensors(uuid); };
    devices.push_back(std::move(device));
  }
  return devices;
}

// As the devices have it, which have opened it.
std::string CublasLtText() {
  const absl::StatusOr<cuda::Driver>& driver = TheDriver();
  const cuda::CublasLt* const lt = driver.ok() ? TheCublasLt(*driver) : nullptr;
  return lt != nullptr ? cuda::CublasLtVersion(*lt) : "";
}

std::string CudaVersion() {
  const absl::StatusOr<cuda::Driver>& driver = TheDriver();
  const int version = driver.ok() ? CudaVersionOf(*driver) : 0;
  return version > 0 ? cuda::VersionText(version) : "";
}

#else

absl::StatusOr<std::vector<DeviceToMake>> Gpus(const ServerOptions& /*options*/,
                                               Clock& /*clock*/) {
  return absl::NotFoundError("this build has no CUDA device");
}

std::string CublasLtText() { return ""; }
std::string CudaVersion() { return ""; }

#endif

}  // namespace

absl::StatusOr<std::vector<DeviceToMake>> FindDevices(
    const ServerOptions& options, Clock& clock) {
  std::vector<DeviceToMake> cpu;
  cpu.push_back(Cpu(options, clock));
  if (options.device == DeviceChoice::kCpu) return cpu;
  absl::StatusOr<std::vector<DeviceToMake>> gpus = Gpus(options, clock);
  if (gpus.ok() && !gpus->empty()) return gpus;
  const absl::Status why =
      gpus.ok() ? absl::NotFoundError("no GPU can be used") : gpus.status();
  if (options.device == DeviceChoice::kCuda) {
    const absl::Status status = Annotate(why, "--device=cuda");
    return absl::IsNotFound(why) ? absl::UnavailableError(status.message())
                                 : status;
  }
  if (absl::IsInvalidArgument(why) || options.gpus != "all") {
    return Annotate(why, absl::StrCat("--gpus=", options.gpus));
  }
  LogWarning(absl::StrCat("no GPU can be used; models run on the CPU reason=",
                          LogValue(why.message())));
  return cpu;
}

absl::StatusOr<std::unique_ptr<Device>> MakeDevice(const ServerOptions& options,
                                                   Clock& clock) {
  REPRISE_ASSIGN_OR_RETURN(const std::vector<DeviceToMake> devices,
                           FindDevices(options, clock));
  return devices.front().make();
}

void ShowDevices(const std::vector<DeviceToMake>& devices,
                 const std::string& version, const std::string& commit,
                 prometheus::Registry& metrics) {
  const bool gpus = std::any_of(
      devices.begin(), devices.end(),
      [](const DeviceToMake& one) { return one.gpu_index.has_value(); });
  prometheus::BuildGauge()
      .Name("reprise_build_info")
      .Help("The program; always 1")
      .Register(metrics)
      .Add({{"version", version},
            {"commit", commit},
            {"onednn", cpu::OneDnnVersion()},
            {"cuda", CudaVersion()},
            {"cublaslt", gpus ? CublasLtText() : ""},
            {"cudnn", ""}})
      .Set(1);
  for (const DeviceToMake& device : devices) {
    if (!device.gpu_index.has_value()) continue;
    prometheus::BuildGauge()
        .Name("reprise_gpu_info")
        .Help("A GPU that models are served on; always 1")
        .Register(metrics)
        .Add({{"device", absl::StrCat(*device.gpu_index)},
              {"uuid", device.gpu.uuid},
              {"name", device.gpu.name},
              {"sm", device.gpu.sm}})
        .Set(1);
  }
}

}  // namespace reprise
