// The door to cuBLASLt, the library of matrix products: what is used of it,
// looked up at run time. Only its types come from the toolkit's header.
#pragma once

#include <cublasLt.h>

#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/log.h"
#include "runtime/cuda/context.h"

namespace reprise::cuda {

// The functions, without their "cublasLt".
#define REPRISE_CUBLASLT_FUNCTIONS(F) \
  F(Create)                           \
  F(Destroy)                          \
  F(GetStatusName)                    \
  F(GetStatusString)                  \
  F(GetVersion)                       \
  F(MatmulDescCreate)                 \
  F(MatmulDescDestroy)                \
  F(MatmulDescSetAttribute)           \
  F(MatrixLayoutCreate)               \
  F(MatrixLayoutDestroy)              \
  F(MatrixLayoutSetAttribute)         \
  F(MatmulPreferenceCreate)           \
  F(MatmulPreferenceDestroy)          \
  F(MatmulPreferenceSetAttribute)     \
  F(MatmulAlgoGetHeuristic)           \
  F(Matmul)

// Threads: constant once filled.
struct CublasLt {
#define REPRISE_CUBLASLT_MEMBER(name) \
  decltype(&::cublasLt##name) name = nullptr;
  REPRISE_CUBLASLT_FUNCTIONS(REPRISE_CUBLASLT_MEMBER)
#undef REPRISE_CUBLASLT_MEMBER
};

// Opens libcublasLt.so.13, if the driver is for CUDA 13 (`driver_version` as
// cuDriverGetVersion gives it), else or failing that libcublasLt.so.12.
// NOT_FOUND: which names were tried and why each failed; models without matrix
// products do without it. The library stays open for the life of the process.
absl::StatusOr<CublasLt> LoadCublasLt(int driver_version);

// The same from any library: the address of a function by its name, or null.
absl::StatusOr<CublasLt> FillCublasLt(
    absl::FunctionRef<void*(const char* name)> find);

// "13.0.0" of the library in use.
std::string CublasLtVersion(const CublasLt& lt);

// OK, or an error of the text "what: CUBLAS_STATUS_NAME (13): description",
// marked with its class (ErrorClassOf): UNAVAILABLE for what is fatal,
// RESOURCE_EXHAUSTED for memory, UNIMPLEMENTED for what the library does not
// have, INTERNAL else.
absl::Status ToStatus(const CublasLt& lt, cublasStatus_t status,
                      absl::string_view what);

// Owns an object of the library. A failed destroy is logged.
template <typename Handle>
class UniqueLt {
 public:
  using Destroy = cublasStatus_t(CUBLASWINAPI*)(Handle);

  UniqueLt() = default;
  UniqueLt(Handle handle, Destroy destroy)
      : handle_(handle), destroy_(destroy) {}
  UniqueLt(UniqueLt&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)),
        destroy_(other.destroy_) {}
  UniqueLt& operator=(UniqueLt&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(destroy_, other.destroy_);
    return *this;
  }
  ~UniqueLt() {
    if (handle_ == nullptr) return;
    if (destroy_(handle_) != CUBLAS_STATUS_SUCCESS) {
      LogError("destroying an object of cuBLASLt failed");
    }
  }

  Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
  Destroy destroy_ = nullptr;
};

// The library on one GPU: it is made for the context that is current.
//
// Lifecycle: plans that use it go first; the context outlives it.
// Threads: any, with the same context current.
class CublasLtHandle {
 public:
  // `lt` outlives it. INTERNAL: the library does not start on this GPU.
  static absl::StatusOr<CublasLtHandle> Create(const CublasLt& lt,
                                               const CurrentContext& current);

  const CublasLt& lt() const { return *lt_; }
  cublasLtHandle_t get() const { return handle_.get(); }

 private:
  CublasLtHandle(const CublasLt& lt, UniqueLt<cublasLtHandle_t> handle)
      : lt_(&lt), handle_(std::move(handle)) {}

  const CublasLt* lt_;
  UniqueLt<cublasLtHandle_t> handle_;
};

}  // namespace reprise::cuda
