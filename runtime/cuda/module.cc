#include "runtime/cuda/module.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace reprise::cuda {
namespace {

// What a kernel may have of dynamic shared memory without being asked.
constexpr unsigned kPlainSharedBytes = 48 << 10;

absl::Status AllowShared(const CurrentContext& current, CUfunction function,
                         const std::string& entry, unsigned bytes) {
  const Driver& driver = current.driver();
  int limit = 0;
  int fixed = 0;
  REPRISE_RETURN_IF_ERROR(ToStatus(
      driver,
      driver.DeviceGetAttribute(
          &limit, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
          current.context().device()),
      "cuDeviceGetAttribute"));
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver,
               driver.FuncGetAttribute(
                   &fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function),
               "cuFuncGetAttribute"));
  if (static_cast<int64_t>(bytes) + fixed > limit) {
    return absl::InvalidArgumentError(absl::StrCat(
        "kernel ", entry, " needs ", bytes, " + ", fixed,
        " bytes of shared memory, and a block of this GPU has ", limit));
  }
  return ToStatus(driver,
                  driver.FuncSetAttribute(
                      function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                      static_cast<int>(bytes)),
                  absl::StrCat("shared memory of kernel ", entry));
}

}  // namespace

absl::Status Modules::Add(const CurrentContext& current, absl::string_view name,
                          std::span<const std::byte> image) {
  const Driver& driver = current.driver();
  const std::string what = absl::StrCat("device code '", name, "'");
  CUmodule module = nullptr;
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver, driver.ModuleLoadData(&module, image.data()), what));
  UniqueHandle<CUmodule> owned(module, driver.ModuleUnload);
  unsigned count = 0;
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver, driver.ModuleGetFunctionCount(&count, module), what));
  std::vector<CUfunction> functions(count);
  REPRISE_RETURN_IF_ERROR(ToStatus(
      driver, driver.ModuleEnumerateFunctions(functions.data(), count, module),
      what));
  std::vector<std::string> entries;
  for (const CUfunction function : functions) {
    const char* entry = nullptr;
    REPRISE_RETURN_IF_ERROR(
        ToStatus(driver, driver.FuncGetName(&entry, function), what));
    entries.emplace_back(entry);
  }
  absl::MutexLock lock(&mu_);
  for (size_t i = 0; i < functions.size(); ++i) {
    kernels_.try_emplace(std::move(entries[i]),
                         Kernel{.function = functions[i],
                                .loaded = false,
                                .shared_bytes = kPlainSharedBytes});
  }
  modules_.push_back(std::move(owned));
  return absl::OkStatus();
}

bool Modules::Has(const std::string& entry) const {
  absl::MutexLock lock(&mu_);
  return kernels_.contains(entry);
}

bool Modules::IsLoaded(const std::string& entry, unsigned shared_bytes) const {
  absl::MutexLock lock(&mu_);
  const auto it = kernels_.find(entry);
  return it != kernels_.end() && it->second.loaded &&
         shared_bytes <= it->second.shared_bytes;
}

absl::StatusOr<CUfunction> Modules::Find(const CurrentContext& current,
                                         const std::string& entry,
                                         unsigned shared_bytes) {
  absl::MutexLock lock(&mu_);
  const auto it = kernels_.find(entry);
  if (it == kernels_.end()) {
    return absl::NotFoundError(absl::StrCat("no kernel ", entry));
  }
  Kernel& kernel = it->second;
  if (!kernel.loaded) {
    const Driver& driver = current.driver();
    REPRISE_RETURN_IF_ERROR(ToStatus(driver, driver.FuncLoad(kernel.function),
                                     absl::StrCat("kernel ", entry)));
    kernel.loaded = true;
  }
  if (shared_bytes > kernel.shared_bytes) {
    REPRISE_RETURN_IF_ERROR(
        AllowShared(current, kernel.function, entry, shared_bytes));
    kernel.shared_bytes = shared_bytes;
  }
  return kernel.function;
}

}  // namespace reprise::cuda
