// A matrix product that is ready to be issued to a stream, by cuBLASLt.
#pragma once

#include <cublasLt.h>
#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cuda/cublaslt.h"
#include "runtime/cuda/program.h"

namespace reprise::cuda {

// Where the operands lie when a product runs. `c` and `bias` are read only
// where the product has them.
struct MatMulAddresses {
  CUdeviceptr a = 0;
  CUdeviceptr b = 0;
  CUdeviceptr c = 0;
  CUdeviceptr d = 0;
  CUdeviceptr bias = 0;
  CUdeviceptr workspace = 0;
  size_t workspace_bytes = 0;
};

struct MatMulLimits {
  size_t workspace_bytes = size_t{32} << 20;
  int candidates = 16;
};

// Descriptors, and the algorithms that the library proposes, best guess first.
// The first is used until another one is chosen: who wants the fastest times
// each of them with RunCandidate, and calls Choose.
//
// The library counts rows down its columns. A row-major D = A B is,
// column-major, the transpose: D' = B' A'. So the library's first operand is
// our B, and its second our A, nothing is moved, and D' has a row for each
// column of D. That is more than a convention: a bias goes along the library's
// rows, which are then the n columns of D, where a network adds it.
// CUBLASLT_ORDER_ROW would put it along m, and has fewer kernels.
//
// Sums are FP32 for all types: split sums are reduced in FP32 too.
//
// Lifecycle: the handle outlives it; made while a rung is prepared.
// Threads: one at a time; the context of the handle is current.
class MatMulPlan {
 public:
  // Addresses are taken to be as aligned as the product's places and strides,
  // in buffers that are aligned as those of an arena (plan::kArenaAlignment).
  // INVALID_ARGUMENT: a size is not positive, batches of D overlap, or a place
  // is missing. UNIMPLEMENTED: a type or an epilogue that the library does not
  // have, or no algorithm within `limits`.
  static absl::StatusOr<MatMulPlan> Create(const CublasLtHandle& handle,
                                           const MatrixProduct& product,
                                           const MatMulLimits& limits = {});

  int candidates() const { return static_cast<int>(candidates_.size()); }
  int chosen() const { return chosen_; }
  // `candidate` is one of them.
  void Choose(int candidate) { chosen_ = candidate; }

  // Of the chosen one, or of that candidate. Aligned to 16 bytes.
  size_t workspace_bytes() const { return workspace_bytes(chosen_); }
  size_t workspace_bytes(int candidate) const {
    return candidates_[static_cast<size_t>(candidate)].workspaceSize;
  }

  // Issues the product; allocates nothing, makes no plan, may be captured.
  // INVALID_ARGUMENT: the workspace is too small, or an address is not as
  // aligned as was planned.
  absl::Status Run(const MatMulAddresses& addresses, CUstream stream) {
    return RunCandidate(chosen_, addresses, stream);
  }
  absl::Status RunCandidate(int candidate, const MatMulAddresses& addresses,
                            CUstream stream);

  // What tells the chosen algorithm from others, in this process.
  std::string algorithm() const;

  // "matrix product 8x1024x256 FP16": m, n and k.
  const std::string& name() const { return name_; }

 private:
  // Bytes that each address is a multiple of.
  struct Alignments {
    uint32_t a = 0, b = 0, c = 0, d = 0, bias = 0;
  };

  MatMulPlan(const CublasLtHandle& handle, const MatrixProduct& product);

  absl::Status MakeDescription();
  absl::Status MakeLayouts();
  absl::Status FindCandidates(const MatMulLimits& limits);
  absl::Status CheckAddresses(int candidate,
                              const MatMulAddresses& addresses) const;
  absl::Status SetBias(CUdeviceptr bias);
  absl::Status Check(cublasStatus_t status, const char* what) const;

  const CublasLt* lt_;       // not owned
  cublasLtHandle_t handle_;  // not owned
  MatrixProduct product_;
  std::string name_;
  Alignments alignments_;
  UniqueLt<cublasLtMatmulDesc_t> description_;
  UniqueLt<cublasLtMatrixLayout_t> a_, b_, c_, d_;  // ours: A is their B
  std::vector<cublasLtMatmulHeuristicResult_t> candidates_;
  int chosen_ = 0;
};

}  // namespace reprise::cuda
