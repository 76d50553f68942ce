#include "runtime/cuda/cuda_devices.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"

namespace reprise::cuda {
namespace {

constexpr int kOldestMajor = 7;
constexpr int kOldestMinor = 5;

// The driver has no attribute that tells a slice from a GPU; its names do:
// "NVIDIA H200 MIG 1g.18gb".
bool IsMigName(absl::string_view name) {
  return absl::StrContains(name, " MIG ");
}

std::string UuidText(const CUuuid& uuid, bool mig) {
  const std::string digits =
      absl::BytesToHexString(absl::string_view(uuid.bytes, sizeof(uuid.bytes)));
  const absl::string_view all = digits;
  return absl::StrCat(mig ? "MIG-" : "GPU-", all.substr(0, 8), "-",
                      all.substr(8, 4), "-", all.substr(12, 4), "-",
                      all.substr(16, 4), "-", all.substr(20));
}

absl::StatusOr<int> Attribute(const Driver& driver, CUdevice device,
                              CUdevice_attribute attribute) {
  int value = 0;
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver, driver.DeviceGetAttribute(&value, attribute, device),
               absl::StrCat("attribute ", static_cast<int>(attribute),
                            " of GPU ", device)));
  return value;
}

absl::Status SetPlace(const Driver& driver, GpuInfo& gpu) {
  REPRISE_ASSIGN_OR_RETURN(
      const int domain,
      Attribute(driver, gpu.device, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID));
  REPRISE_ASSIGN_OR_RETURN(
      const int bus,
      Attribute(driver, gpu.device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID));
  REPRISE_ASSIGN_OR_RETURN(
      const int slot,
      Attribute(driver, gpu.device, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
  gpu.pci = absl::StrFormat("%04x:%02x:%02x.0", domain, bus, slot);
  // Worth a hint only: some drivers and virtual machines do not know.
  int node = -1;
  if (driver.DeviceGetAttribute(&node, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID,
                                gpu.device) == CUDA_SUCCESS &&
      node >= 0) {
    gpu.numa_node = node;
  }
  return absl::OkStatus();
}

absl::Status SetSize(const Driver& driver, GpuInfo& gpu) {
  REPRISE_ASSIGN_OR_RETURN(
      gpu.major, Attribute(driver, gpu.device,
                           CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  REPRISE_ASSIGN_OR_RETURN(
      gpu.minor, Attribute(driver, gpu.device,
                           CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  REPRISE_ASSIGN_OR_RETURN(
      gpu.multiprocessors,
      Attribute(driver, gpu.device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  REPRISE_ASSIGN_OR_RETURN(
      const int mode,
      Attribute(driver, gpu.device, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE));
  gpu.prohibited = mode == CU_COMPUTEMODE_PROHIBITED;
  size_t bytes = 0;
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver, driver.DeviceTotalMem(&bytes, gpu.device),
               absl::StrCat("memory of GPU ", gpu.ordinal)));
  gpu.total_memory = static_cast<int64_t>(bytes);
  return absl::OkStatus();
}

absl::StatusOr<GpuInfo> Describe(const Driver& driver, int ordinal) {
  const std::string what = absl::StrCat("GPU ", ordinal);
  GpuInfo gpu;
  gpu.ordinal = ordinal;
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver, driver.DeviceGet(&gpu.device, ordinal), what));
  std::array<char, 256> name = {};
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver,
               driver.DeviceGetName(
                   name.data(), static_cast<int>(name.size()) - 1, gpu.device),
               absl::StrCat("name of ", what)));
  gpu.name = name.data();
  gpu.mig = IsMigName(gpu.name);
  CUuuid uuid = {};
  REPRISE_RETURN_IF_ERROR(ToStatus(driver,
                                   driver.DeviceGetUuid(&uuid, gpu.device),
                                   absl::StrCat("UUID of ", what)));
  gpu.uuid = UuidText(uuid, gpu.mig);
  REPRISE_RETURN_IF_ERROR(SetSize(driver, gpu));
  REPRISE_RETURN_IF_ERROR(SetPlace(driver, gpu));
  return gpu;
}

absl::Status NoGpu(const std::optional<std::string>& visible) {
  return absl::NotFoundError(absl::StrCat(
      "the CUDA driver shows no GPU",
      visible.has_value()
          ? absl::StrCat("; CUDA_VISIBLE_DEVICES is '", *visible, "'")
          : ""));
}

absl::Status Usable(const GpuInfo& gpu) {
  const bool old = gpu.major < kOldestMajor ||
                   (gpu.major == kOldestMajor && gpu.minor < kOldestMinor);
  if (old) {
    return absl::FailedPreconditionError(
        absl::StrCat("GPU ", gpu.ordinal, " (", gpu.name,
                     ") has compute capability ", gpu.major, ".", gpu.minor,
                     ", and ", kOldestMajor, ".", kOldestMinor, " is needed"));
  }
  if (gpu.prohibited) {
    return absl::FailedPreconditionError(
        absl::StrCat("GPU ", gpu.ordinal, " (", gpu.name,
                     ") is in compute mode 'prohibited'"));
  }
  return absl::OkStatus();
}

std::string Shown(const std::vector<GpuInfo>& gpus) {
  std::string text;
  for (const GpuInfo& gpu : gpus) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", gpu.ordinal, " (",
                    gpu.uuid, ")");
  }
  return text.empty() ? "none" : text;
}

absl::StatusOr<GpuInfo> ByUuid(const std::vector<GpuInfo>& gpus,
                               absl::string_view item) {
  std::vector<GpuInfo> matches;
  for (const GpuInfo& gpu : gpus) {
    if (absl::StartsWithIgnoreCase(gpu.uuid, item)) matches.push_back(gpu);
  }
  if (matches.size() == 1) return matches.front();
  if (matches.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", item, "' may be any of the GPUs ", Shown(matches)));
  }
  const bool slice = absl::StartsWithIgnoreCase(item, "MIG-");
  return absl::NotFoundError(absl::StrCat(
      "no GPU '", item, "'; the driver shows ", Shown(gpus),
      slice ? ". It shows one MIG slice to a process, the one that "
              "CUDA_VISIBLE_DEVICES names"
            : ""));
}

absl::StatusOr<GpuInfo> ByOrdinal(const std::vector<GpuInfo>& gpus,
                                  absl::string_view item) {
  int ordinal = 0;
  const bool digits = !item.empty() && std::all_of(item.begin(), item.end(),
                                                   absl::ascii_isdigit);
  if (!digits || !absl::SimpleAtoi(item, &ordinal)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", item, "' is no GPU: 'all', an index, GPU-<uuid> or MIG-<uuid>"));
  }
  for (const GpuInfo& gpu : gpus) {
    if (gpu.ordinal == ordinal) return gpu;
  }
  return absl::NotFoundError(
      absl::StrCat("no GPU ", ordinal, "; the driver shows ", Shown(gpus)));
}

absl::StatusOr<GpuInfo> FindGpu(const std::vector<GpuInfo>& gpus,
                                absl::string_view item) {
  const bool uuid = absl::StartsWithIgnoreCase(item, "GPU-") ||
                    absl::StartsWithIgnoreCase(item, "MIG-");
  return uuid && item.size() > 4 ? ByUuid(gpus, item) : ByOrdinal(gpus, item);
}

absl::StatusOr<std::vector<GpuInfo>> ChooseAll(
    const std::vector<GpuInfo>& gpus) {
  std::vector<GpuInfo> chosen;
  absl::Status why = absl::NotFoundError("the driver shows no GPU");
  for (const GpuInfo& gpu : gpus) {
    const absl::Status usable = Usable(gpu);
    if (usable.ok()) {
      chosen.push_back(gpu);
    } else {
      why = usable;
    }
  }
  if (chosen.empty()) return why;
  return chosen;
}

absl::StatusOr<std::vector<GpuInfo>> ChooseListed(
    const std::vector<GpuInfo>& gpus, absl::string_view selection) {
  std::vector<GpuInfo> chosen;
  for (const absl::string_view piece : absl::StrSplit(selection, ',')) {
    const absl::string_view item = absl::StripAsciiWhitespace(piece);
    REPRISE_ASSIGN_OR_RETURN(GpuInfo gpu, FindGpu(gpus, item));
    for (const GpuInfo& before : chosen) {
      if (before.ordinal != gpu.ordinal) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "GPU ", gpu.ordinal, " (", gpu.uuid, ") is named twice"));
    }
    REPRISE_RETURN_IF_ERROR(Usable(gpu));
    chosen.push_back(std::move(gpu));
  }
  return chosen;
}

}  // namespace

absl::StatusOr<std::vector<GpuInfo>> ListGpus(
    const Driver& driver, const std::optional<std::string>& visible) {
  const CUresult started = driver.Init(0);
  if (started == CUDA_ERROR_NO_DEVICE) return NoGpu(visible);
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver, started, "starting the CUDA driver"));
  int count = 0;
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver, driver.DeviceGetCount(&count), "counting GPUs"));
  if (count == 0) return NoGpu(visible);
  std::vector<GpuInfo> gpus;
  for (int i = 0; i < count; ++i) {
    REPRISE_ASSIGN_OR_RETURN(GpuInfo gpu, Describe(driver, i));
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

absl::StatusOr<std::vector<GpuInfo>> ChooseGpus(
    const std::vector<GpuInfo>& gpus, absl::string_view selection) {
  const absl::string_view text = absl::StripAsciiWhitespace(selection);
  REPRISE_ASSIGN_OR_RETURN(
      std::vector<GpuInfo> chosen,
      text == "all" ? ChooseAll(gpus) : ChooseListed(gpus, text));
  const auto slices = std::count_if(chosen.begin(), chosen.end(),
                                    [](const GpuInfo& gpu) { return gpu.mig; });
  if (slices > 1) {
    return absl::FailedPreconditionError(
        absl::StrCat(slices,
                     " MIG slices in one process: start one process for each, "
                     "with its slice in CUDA_VISIBLE_DEVICES"));
  }
  return chosen;
}

std::string DriverLine(const Driver& driver) {
  int version = 0;
  const CUresult result = driver.DriverGetVersion(&version);
  return absl::StrCat("CUDA driver version=",
                      result == CUDA_SUCCESS ? VersionText(version) : "unknown",
                      " built_with=", VersionText(CUDA_VERSION));
}

std::string GpuLine(const GpuInfo& gpu) {
  return absl::StrCat(
      "GPU index=", gpu.ordinal, " name=", LogName(gpu.name),
      " uuid=", gpu.uuid, " compute_capability=", gpu.major, ".", gpu.minor,
      " memory_bytes=", gpu.total_memory,
      " multiprocessors=", gpu.multiprocessors, " pci=", gpu.pci,
      gpu.numa_node.has_value() ? absl::StrCat(" numa_node=", *gpu.numa_node)
                                : "");
}

}  // namespace reprise::cuda
