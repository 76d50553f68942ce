// A cuBLASLt without a GPU: it computes, with plain loops, what descriptors
// ask.
#pragma once

#include <cublasLt.h>
#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "runtime/cuda/cublaslt.h"
#include "tests/testing/fake_cuda.h"

namespace reprise::testing {

struct FakeLayout {
  cudaDataType type = CUDA_R_32F;
  uint64_t rows = 0;
  uint64_t columns = 0;
  int64_t leading = 0;
  int32_t batch = 1;
  int64_t stride = 0;
};

struct FakeMatMulDescription {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType scale = CUDA_R_32F;
  std::map<int, int64_t> attributes;  // by cublasLtMatmulDescAttributes_t
};

// One call of cublasLtMatmul: operands as the library has them.
struct FakeMatMul {
  FakeMatMulDescription description;
  FakeLayout a, b, c, d;
  CUdeviceptr a_at = 0, b_at = 0, c_at = 0, d_at = 0;
  float alpha = 0;
  float beta = 0;
  int candidate = 0;
  CUdeviceptr workspace = 0;
  size_t workspace_bytes = 0;
  size_t scratch_bytes = 0;  // of the workspace, overwritten
};

// The library as a test sees it; there is one at a time, as of FakeCuda, which
// it needs. A product is a kernel "cublaslt" of that driver: it is queued,
// captured and replayed as others are. Misuses are the driver's.
//
// Threads: every method from any thread, and so the library's functions.
class FakeCublasLt {
 public:
  explicit FakeCublasLt(FakeCuda& cuda);
  FakeCublasLt(const FakeCublasLt&) = delete;
  FakeCublasLt& operator=(const FakeCublasLt&) = delete;
  ~FakeCublasLt();

  const cuda::CublasLt& lt() const { return lt_; }

  // What the heuristic answers from now on: a workspace for each, best first.
  // One without a workspace, unless set.
  void SetCandidates(std::vector<size_t> workspaces) ABSL_LOCKS_EXCLUDED(mu_);
  // The next call of `function` ("Matmul") returns `status`; one that destroys
  // something still does so.
  void FailNext(const std::string& function, cublasStatus_t status)
      ABSL_LOCKS_EXCLUDED(mu_);

  std::vector<FakeMatMul> products() const ABSL_LOCKS_EXCLUDED(mu_);
  // Of the last question to the heuristic, by cublasLtMatmulPreference...
  std::map<int, int64_t> preferences() const ABSL_LOCKS_EXCLUDED(mu_);
  int questions() const ABSL_LOCKS_EXCLUDED(mu_);
  // Handles, descriptors, layouts and preferences that live.
  int live() const ABSL_LOCKS_EXCLUDED(mu_);

  // For the functions of the table.
  struct Functions;

 private:
  cublasStatus_t Injected(const std::string& function)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  FakeCuda& cuda_;
  cuda::CublasLt lt_;
  mutable absl::Mutex mu_;
  std::map<cublasLtHandle_t, int> handles_ ABSL_GUARDED_BY(mu_);
  std::map<cublasLtMatmulDesc_t, FakeMatMulDescription> descriptions_
      ABSL_GUARDED_BY(mu_);
  std::map<cublasLtMatrixLayout_t, FakeLayout> layouts_ ABSL_GUARDED_BY(mu_);
  std::map<cublasLtMatmulPreference_t, std::map<int, int64_t>> preferences_
      ABSL_GUARDED_BY(mu_);
  uintptr_t last_handle_ ABSL_GUARDED_BY(mu_) = 0x1000;
  std::vector<size_t> candidates_ ABSL_GUARDED_BY(mu_) = {0};
  std::map<std::string, cublasStatus_t> fail_next_ ABSL_GUARDED_BY(mu_);
  std::vector<FakeMatMul> products_ ABSL_GUARDED_BY(mu_);
  std::map<int, int64_t> asked_ ABSL_GUARDED_BY(mu_);
  int questions_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace reprise::testing
