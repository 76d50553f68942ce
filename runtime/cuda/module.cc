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
  CUmodule module = nullptr;
  const CUresult result = driver.ModuleLoadData(&module, image.data());
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver, result, absl::StrCat("device code '", name, "'")));
  UniqueHandle<CUmodule> owned(module, driver.ModuleUnload);
  absl::MutexLock lock(&mu_);
  modules_.push_back(std::move(owned));
  return absl::OkStatus();
}

absl::StatusOr<Modules::Kernel> Modules::Load(const CurrentContext& current,
                                              const std::string& entry) const {
  const Driver& driver = current.driver();
  for (const UniqueHandle<CUmodule>& module : modules_) {
    CUfunction function = nullptr;
    const CUresult result =
        driver.ModuleGetFunction(&function, module.get(), entry.c_str());
    if (result == CUDA_ERROR_NOT_FOUND) continue;
    REPRISE_RETURN_IF_ERROR(
        ToStatus(driver, result, absl::StrCat("kernel ", entry)));
    REPRISE_RETURN_IF_ERROR(ToStatus(driver, driver.FuncLoad(function),
                                     absl::StrCat("kernel ", entry)));
    return Kernel{.function = function, .shared_bytes = kPlainSharedBytes};
  }
  return absl::NotFoundError(absl::StrCat("no kernel ", entry));
}

absl::StatusOr<CUfunction> Modules::Find(const CurrentContext& current,
                                         const std::string& entry,
                                         unsigned shared_bytes) {
  absl::MutexLock lock(&mu_);
  auto it = kernels_.find(entry);
  if (it == kernels_.end()) {
    REPRISE_ASSIGN_OR_RETURN(const Kernel kernel, Load(current, entry));
    it = kernels_.emplace(entry, kernel).first;
  }
  Kernel& kernel = it->second;
  if (shared_bytes > kernel.shared_bytes) {
    REPRISE_RETURN_IF_ERROR(
        AllowShared(current, kernel.function, entry, shared_bytes));
    kernel.shared_bytes = shared_bytes;
  }
  return kernel.function;
}

}  // namespace reprise::cuda
