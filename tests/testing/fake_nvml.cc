#include "tests/testing/fake_nvml.h"

#include <utility>

namespace reprise::testing {
namespace {

using cuda::NvmlDevice;
using cuda::NvmlEvent;
using cuda::NvmlEventSet;
using cuda::NvmlReturn;

FakeNvml* current = nullptr;

FakeNvmlGpu& GpuOf(NvmlDevice device) {
  return *reinterpret_cast<FakeNvmlGpu*>(device);
}

template <typename To, typename From>
NvmlReturn Answer(NvmlDevice device, const char* function, From value, To* to) {
  const FakeNvmlGpu& gpu = GpuOf(device);
  if (const auto it = gpu.results.find(function); it != gpu.results.end()) {
    return it->second;
  }
  *to = value;
  return cuda::kNvmlSuccess;
}

}  // namespace

struct FakeNvml::Functions {
  static NvmlReturn Init() {
    ++current->inits;
    return current->init_result;
  }
  static NvmlReturn HandleByUuid(const char* uuid, NvmlDevice* device) {
    const auto it = current->gpus.find(uuid);
    if (it == current->gpus.end()) return cuda::kNvmlNotFound;
    *device = reinterpret_cast<NvmlDevice>(&it->second);
    return cuda::kNvmlSuccess;
  }
  static NvmlReturn Memory(NvmlDevice device, cuda::NvmlMemory* memory) {
    return Answer(device, "DeviceGetMemoryInfo", GpuOf(device).memory, memory);
  }
  static NvmlReturn Energy(NvmlDevice device, uint64_t* millijoules) {
    return Answer(device, "DeviceGetTotalEnergyConsumption",
                  GpuOf(device).energy_millijoules, millijoules);
  }
  static NvmlReturn Clock(NvmlDevice device, cuda::NvmlClock type,
                          unsigned* megahertz) {
    if (type != cuda::kNvmlClockSm) return cuda::kNvmlInvalidArgument;
    return Answer(device, "DeviceGetClockInfo", GpuOf(device).sm_megahertz,
                  megahertz);
  }
  static NvmlReturn Limits(NvmlDevice device, uint64_t* reasons) {
    return Answer(device, "DeviceGetCurrentClocksThrottleReasons",
                  GpuOf(device).limits, reasons);
  }
  static NvmlReturn Ecc(NvmlDevice device, cuda::NvmlEccError error,
                        cuda::NvmlEccCounter counter, uint64_t* count) {
    if (error != cuda::kNvmlUncorrected || counter != cuda::kNvmlVolatile) {
      return cuda::kNvmlInvalidArgument;
    }
    return Answer(device, "DeviceGetTotalEccErrors", GpuOf(device).ecc_errors,
                  count);
  }
  static NvmlReturn Create(NvmlEventSet* set) {
    ++current->live_event_sets;
    *set = reinterpret_cast<NvmlEventSet>(current);
    return cuda::kNvmlSuccess;
  }
  static NvmlReturn Free(NvmlEventSet /*set*/) {
    --current->live_event_sets;
    return cuda::kNvmlSuccess;
  }
  static NvmlReturn Wait(NvmlEventSet /*set*/, NvmlEvent* event,
                         unsigned /*milliseconds*/) {
    if (current->events.empty()) return cuda::kNvmlTimeout;
    *event = current->events.front();
    current->events.pop_front();
    return cuda::kNvmlSuccess;
  }
  static NvmlReturn Register(NvmlDevice device, uint64_t types,
                             NvmlEventSet /*set*/) {
    return Answer(device, "DeviceRegisterEvents", types,
                  &current->registered_types);
  }
  static const char* Text(NvmlReturn result) {
    return result == cuda::kNvmlNotFound ? "Not Found" : "Some Error";
  }
};

FakeNvml::FakeNvml() {
  current = this;
  nvml_.Init_v2 = Functions::Init;
  nvml_.DeviceGetHandleByUUID = Functions::HandleByUuid;
  nvml_.DeviceGetMemoryInfo = Functions::Memory;
  nvml_.DeviceGetTotalEnergyConsumption = Functions::Energy;
  nvml_.DeviceGetClockInfo = Functions::Clock;
  nvml_.DeviceGetCurrentClocksThrottleReasons = Functions::Limits;
  nvml_.DeviceGetTotalEccErrors = Functions::Ecc;
  nvml_.EventSetCreate = Functions::Create;
  nvml_.EventSetFree = Functions::Free;
  nvml_.EventSetWait_v2 = Functions::Wait;
  nvml_.DeviceRegisterEvents = Functions::Register;
  nvml_.ErrorString = Functions::Text;
}

FakeNvml::~FakeNvml() { current = nullptr; }

void* FakeNvml::Symbol(const std::string& symbol) const {
#define REPRISE_FAKE_SYMBOL(name, parameters) \
  if (symbol == "nvml" #name) return reinterpret_cast<void*>(nvml_.name);
  REPRISE_NVML_NEEDED(REPRISE_FAKE_SYMBOL)
  REPRISE_NVML_OPTIONAL(REPRISE_FAKE_SYMBOL)
#undef REPRISE_FAKE_SYMBOL
  if (symbol == "nvmlErrorString") {
    return reinterpret_cast<void*>(nvml_.ErrorString);
  }
  return nullptr;
}

}  // namespace reprise::testing
