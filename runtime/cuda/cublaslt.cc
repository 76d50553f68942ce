#include "runtime/cuda/cublaslt.h"

#include <dlfcn.h>

#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/driver.h"

namespace reprise::cuda {
namespace {

ErrorClass ClassOfStatus(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
    case CUBLAS_STATUS_INVALID_VALUE:
      return ErrorClass::kRequest;
    // The library is called while a rung is prepared, never in a replay. An
    // internal error is often a call that a capture forbids; what is worse
    // shows in the driver's next call.
    case CUBLAS_STATUS_NOT_INITIALIZED:
    case CUBLAS_STATUS_ALLOC_FAILED:
    case CUBLAS_STATUS_ARCH_MISMATCH:
    case CUBLAS_STATUS_INTERNAL_ERROR:
    case CUBLAS_STATUS_NOT_SUPPORTED:
    case CUBLAS_STATUS_LICENSE_ERROR:
      return ErrorClass::kRung;
    case CUBLAS_STATUS_MAPPING_ERROR:
    case CUBLAS_STATUS_EXECUTION_FAILED:
    default:  // not known: better a context too few than garbage
      return ErrorClass::kContextFatal;
  }
}

absl::StatusCode CodeOf(cublasStatus_t status) {
  if (ClassOfStatus(status) == ErrorClass::kContextFatal) {
    return absl::StatusCode::kUnavailable;
  }
  if (status == CUBLAS_STATUS_ALLOC_FAILED) {
    return absl::StatusCode::kResourceExhausted;
  }
  const bool missing = status == CUBLAS_STATUS_NOT_SUPPORTED ||
                       status == CUBLAS_STATUS_ARCH_MISMATCH;
  return missing ? absl::StatusCode::kUnimplemented
                 : absl::StatusCode::kInternal;
}

}  // namespace

absl::StatusOr<CublasLt> FillCublasLt(
    absl::FunctionRef<void*(const char* name)> find) {
  CublasLt lt;
#define REPRISE_CUBLASLT_FIND(name)                                        \
  lt.name = reinterpret_cast<decltype(lt.name)>(find("cublasLt" #name));   \
  if (lt.name == nullptr) {                                                \
    return absl::NotFoundError("cuBLASLt has no function cublasLt" #name); \
  }
  REPRISE_CUBLASLT_FUNCTIONS(REPRISE_CUBLASLT_FIND)
#undef REPRISE_CUBLASLT_FIND
  return lt;
}

absl::StatusOr<CublasLt> LoadCublasLt(int driver_version) {
  // A library for CUDA 13 does not start on a driver for CUDA 12.
  std::vector<const char*> names;
  if (driver_version >= 13000) names.push_back("libcublasLt.so.13");
  names.push_back("libcublasLt.so.12");
  std::vector<std::string> why;
  for (const char* name : names) {
    void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* const error = dlerror();
      why.emplace_back(error != nullptr ? error : name);
      continue;
    }
    absl::StatusOr<CublasLt> lt = FillCublasLt(
        [library](const char* symbol) { return dlsym(library, symbol); });
    if (lt.ok()) return lt;
    why.push_back(absl::StrCat(name, ": ", lt.status().message()));
    dlclose(library);
  }
  return absl::NotFoundError(
      absl::StrCat("matrix products on a GPU need cuBLASLt; tried ",
                   absl::StrJoin(names, ", "), ": ", absl::StrJoin(why, "; ")));
}

std::string CublasLtVersion(const CublasLt& lt) {
  // From version 12.0 on a thousand and a hundred apart: 130000, 120805.
  const size_t version = lt.GetVersion();
  return absl::StrCat(version / 10000, ".", version % 10000 / 100, ".",
                      version % 100);
}

absl::Status ToStatus(const CublasLt& lt, cublasStatus_t status,
                      absl::string_view what) {
  if (status == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  const char* const name = lt.GetStatusName(status);
  const char* const description = lt.GetStatusString(status);
  absl::Status error(
      CodeOf(status),
      absl::StrCat(what, ": ", name != nullptr ? name : "unknown status", " (",
                   static_cast<int>(status), ")",
                   description != nullptr ? ": " : "",
                   description != nullptr ? description : ""));
  SetErrorClass(error, ClassOfStatus(status));
  return error;
}

absl::StatusOr<CublasLtHandle> CublasLtHandle::Create(
    const CublasLt& lt, const CurrentContext& current) {
  cublasLtHandle_t handle = nullptr;
  REPRISE_RETURN_IF_ERROR(
      ToStatus(lt, lt.Create(&handle),
               absl::StrCat("starting cuBLASLt ", CublasLtVersion(lt),
                            " on GPU ", current.context().device())));
  return CublasLtHandle(lt, UniqueLt<cublasLtHandle_t>(handle, lt.Destroy));
}

}  // namespace reprise::cuda
