#include "runtime/cuda/nvml.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace reprise::cuda {
namespace {

constexpr char kLibrary[] = "libnvidia-ml.so.1";

absl::StatusCode CodeOf(NvmlReturn result) {
  switch (result) {
    case kNvmlNotFound:
    case kNvmlInvalidArgument:  // also said of a UUID that is not visible
      return absl::StatusCode::kNotFound;
    case kNvmlNotSupported:
      return absl::StatusCode::kUnimplemented;
    default:
      return absl::StatusCode::kUnavailable;
  }
}

}  // namespace

absl::StatusOr<Nvml> StartNvml(
    absl::FunctionRef<void*(const char* name)> find) {
  Nvml nvml;
  const char* missing = nullptr;
#define REPRISE_NVML_FIND(name, parameters) \
  nvml.name = reinterpret_cast<decltype(nvml.name)>(find("nvml" #name));
#define REPRISE_NVML_NEED(name, parameters) \
  REPRISE_NVML_FIND(name, parameters)       \
  if (nvml.name == nullptr) missing = "nvml" #name;
  REPRISE_NVML_NEEDED(REPRISE_NVML_NEED)
  REPRISE_NVML_OPTIONAL(REPRISE_NVML_FIND)
#undef REPRISE_NVML_NEED
#undef REPRISE_NVML_FIND
  nvml.ErrorString =
      reinterpret_cast<decltype(nvml.ErrorString)>(find("nvmlErrorString"));
  if (missing != nullptr) {
    return absl::NotFoundError(absl::StrCat("NVML has no function ", missing));
  }
  REPRISE_RETURN_IF_ERROR(ToStatus(nvml, nvml.Init_v2(), "starting NVML"));
  return nvml;
}

absl::StatusOr<Nvml> LoadNvml() {
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    return absl::NotFoundError(
        absl::StrCat("no NVML: ", why != nullptr ? why : kLibrary));
  }
  return StartNvml(
      [library](const char* name) { return dlsym(library, name); });
}

absl::Status ToStatus(const Nvml& nvml, NvmlReturn result,
                      absl::string_view what) {
  if (result == kNvmlSuccess) return absl::OkStatus();
  const char* const text =
      nvml.ErrorString != nullptr ? nvml.ErrorString(result) : nullptr;
  return {CodeOf(result),
          absl::StrCat(what, ": ", text != nullptr ? text : "NVML error", " (",
                       static_cast<int>(result), ")")};
}

}  // namespace reprise::cuda
