#include "runtime/cuda/matmul_plan.h"

#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/plan/memory_plan.h"

namespace reprise::cuda {
namespace {

constexpr CUdeviceptr kWorkspaceAlignment = 16;

using Epilogue = MatrixProduct::Epilogue;

bool HasBias(const MatrixProduct& product) {
  return product.bias.buffer != plan::kNoBuffer;
}

// The largest power of two that divides an operand's address in every batch.
uint32_t AlignmentOf(const MatrixProduct& product, const Place& place,
                     int64_t stride) {
  const auto size = static_cast<int64_t>(ElementSize(product.type));
  const int64_t step = product.batch > 1 ? stride * size : 0;
  const auto bits =
      static_cast<uint64_t>(place.offset | step | plan::kArenaAlignment);
  return static_cast<uint32_t>(bits & (~bits + 1));
}

std::optional<cudaDataType_t> TypeOf(DType type) {
  switch (type) {
    case DType::kFp32:
      return CUDA_R_32F;
    case DType::kFp16:
      return CUDA_R_16F;
    case DType::kBf16:
      return CUDA_R_16BF;
    default:
      return std::nullopt;
  }
}

cublasComputeType_t ComputeOf(const MatrixProduct& product) {
  const bool tf32 = product.tf32 && product.type == DType::kFp32;
  return tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

// Its GELU is the approximation by tanh, as NVIDIA's documentation has it; the
// one by erf is no epilogue.
std::optional<cublasLtEpilogue_t> EpilogueOf(const MatrixProduct& product) {
  const bool bias = HasBias(product);
  switch (product.epilogue) {
    case Epilogue::kNone:
      return bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    case Epilogue::kRelu:
      return bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case Epilogue::kGeluTanh:
      return bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    case Epilogue::kGeluErf:
      return std::nullopt;
  }
  return std::nullopt;
}

std::string NameOf(const MatrixProduct& product) {
  return absl::StrCat("matrix product ",
                      product.batch > 1 ? absl::StrCat(product.batch, "x") : "",
                      product.m, "x", product.n, "x", product.k, " ",
                      DTypeName(product.type), product.tf32 ? " TF32" : "");
}

absl::Status CheckProduct(const MatrixProduct& product,
                          const std::string& name) {
  if (product.m < 1 || product.n < 1 || product.k < 1 || product.batch < 1 ||
      product.batch > std::numeric_limits<int32_t>::max()) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": bad size"));
  }
  if (product.a.buffer == plan::kNoBuffer ||
      product.b.buffer == plan::kNoBuffer ||
      product.d.buffer == plan::kNoBuffer ||
      (product.beta != 0 && product.c.buffer == plan::kNoBuffer)) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": an operand has no place"));
  }
  if (product.batch > 1 && product.stride_d < product.m * product.n) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": its answers overlap"));
  }
  if (!TypeOf(product.type).has_value()) {
    return absl::UnimplementedError(
        absl::StrCat(name, ": cuBLASLt is not asked for this type"));
  }
  if (!EpilogueOf(product).has_value()) {
    return absl::UnimplementedError(
        absl::StrCat(name, ": cuBLASLt has no GELU by erf"));
  }
  return absl::OkStatus();
}

// A row-major [rows, columns] as the library sees it: [columns, rows].
absl::Status MakeLayout(const CublasLt& lt, const MatrixProduct& product,
                        int64_t rows, int64_t columns, int64_t stride,
                        UniqueLt<cublasLtMatrixLayout_t>& made) {
  cublasLtMatrixLayout_t layout = nullptr;
  REPRISE_RETURN_IF_ERROR(
      ToStatus(lt,
               lt.MatrixLayoutCreate(&layout, *TypeOf(product.type),
                                     static_cast<uint64_t>(columns),
                                     static_cast<uint64_t>(rows), columns),
               "cublasLtMatrixLayoutCreate"));
  made = UniqueLt<cublasLtMatrixLayout_t>(layout, lt.MatrixLayoutDestroy);
  if (product.batch == 1) return absl::OkStatus();
  const auto batch = static_cast<int32_t>(product.batch);
  REPRISE_RETURN_IF_ERROR(ToStatus(
      lt,
      lt.MatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                  &batch, sizeof(batch)),
      "the batch of a matrix"));
  return ToStatus(lt,
                  lt.MatrixLayoutSetAttribute(
                      layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                      &stride, sizeof(stride)),
                  "the stride of a matrix");
}

template <typename T>
cublasStatus_t Prefer(const CublasLt& lt, cublasLtMatmulPreference_t preference,
                      cublasLtMatmulPreferenceAttributes_t attribute, T value) {
  return lt.MatmulPreferenceSetAttribute(preference, attribute, &value,
                                         sizeof(value));
}

// The library's parameters are pointers, though it never follows them here.
void* Pointer(CUdeviceptr address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

bool Fits(CUdeviceptr address, CUdeviceptr alignment) {
  return address != 0 && address % alignment == 0;
}

}  // namespace

MatMulPlan::MatMulPlan(const CublasLtHandle& handle,
                       const MatrixProduct& product)
    : lt_(&handle.lt()),
      handle_(handle.get()),
      product_(product),
      name_(NameOf(product)),
      alignments_{.a = AlignmentOf(product, product.a, product.stride_a),
                  .b = AlignmentOf(product, product.b, product.stride_b),
                  .c = product.beta != 0
                           ? AlignmentOf(product, product.c, product.stride_c)
                           : AlignmentOf(product, product.d, product.stride_d),
                  .d = AlignmentOf(product, product.d, product.stride_d),
                  .bias = AlignmentOf(product, product.bias, 0)} {}

absl::StatusOr<MatMulPlan> MatMulPlan::Create(const CublasLtHandle& handle,
                                              const MatrixProduct& product,
                                              const MatMulLimits& limits) {
  MatMulPlan plan(handle, product);
  REPRISE_RETURN_IF_ERROR(CheckProduct(product, plan.name_));
  REPRISE_RETURN_IF_ERROR(plan.MakeDescription());
  REPRISE_RETURN_IF_ERROR(plan.MakeLayouts());
  REPRISE_RETURN_IF_ERROR(plan.FindCandidates(limits));
  return plan;
}

// The same configuration may be other code for other types and epilogues.
std::string MatMulPlan::algorithm() const {
  const cublasLtMatmulAlgo_t& algo =
      candidates_[static_cast<size_t>(chosen_)].algo;
  const auto* const bytes = reinterpret_cast<const char*>(algo.data);
  return absl::StrCat(DTypeName(product_.type), " ", product_.tf32, " ",
                      product_.transpose_a, product_.transpose_b, " ",
                      *EpilogueOf(product_), " ",
                      absl::string_view(bytes, sizeof(algo.data)));
}

absl::Status MatMulPlan::Check(cublasStatus_t status, const char* what) const {
  if (status == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  return ToStatus(*lt_, status, absl::StrCat(name_, ": ", what));
}

absl::Status MatMulPlan::MakeDescription() {
  cublasLtMatmulDesc_t description = nullptr;
  REPRISE_RETURN_IF_ERROR(Check(
      lt_->MatmulDescCreate(&description, ComputeOf(product_), CUDA_R_32F),
      "cublasLtMatmulDescCreate"));
  description_ =
      UniqueLt<cublasLtMatmulDesc_t>(description, lt_->MatmulDescDestroy);
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute,
                       const auto& value) {
    return Check(lt_->MatmulDescSetAttribute(description, attribute, &value,
                                             sizeof(value)),
                 "cublasLtMatmulDescSetAttribute");
  };
  // Their first operand is our B, which they see transposed already.
  const int32_t op_a = product_.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  const int32_t op_b = product_.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  const auto epilogue = static_cast<uint32_t>(*EpilogueOf(product_));
  REPRISE_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_TRANSA, op_a));
  REPRISE_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_TRANSB, op_b));
  REPRISE_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue));
  if (!HasBias(product_)) return absl::OkStatus();
  const auto type = static_cast<int32_t>(*TypeOf(product_.type));
  REPRISE_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type));
  // Not followed while planning, but its alignment is looked at.
  return SetBias(alignments_.bias);
}

absl::Status MatMulPlan::SetBias(CUdeviceptr bias) {
  const void* const pointer = Pointer(bias);
  return Check(lt_->MatmulDescSetAttribute(description_.get(),
                                           CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                           &pointer, sizeof(pointer)),
               "the address of the bias");
}

absl::Status MatMulPlan::MakeLayouts() {
  const MatrixProduct& p = product_;
  const auto make = [&](int64_t rows, int64_t columns, int64_t stride,
                        UniqueLt<cublasLtMatrixLayout_t>& made) {
    return MakeLayout(*lt_, p, rows, columns, stride, made);
  };
  REPRISE_RETURN_IF_ERROR(p.transpose_a ? make(p.k, p.m, p.stride_a, a_)
                                        : make(p.m, p.k, p.stride_a, a_));
  REPRISE_RETURN_IF_ERROR(p.transpose_b ? make(p.n, p.k, p.stride_b, b_)
                                        : make(p.k, p.n, p.stride_b, b_));
  const int64_t stride_c = p.beta != 0 ? p.stride_c : p.stride_d;
  REPRISE_RETURN_IF_ERROR(make(p.m, p.n, stride_c, c_));
  return make(p.m, p.n, p.stride_d, d_);
}

absl::Status MatMulPlan::FindCandidates(const MatMulLimits& limits) {
  const CublasLt& lt = *lt_;
  cublasLtMatmulPreference_t preference = nullptr;
  REPRISE_RETURN_IF_ERROR(Check(lt.MatmulPreferenceCreate(&preference),
                                "cublasLtMatmulPreferenceCreate"));
  const UniqueLt<cublasLtMatmulPreference_t> owned(preference,
                                                   lt.MatmulPreferenceDestroy);
  // Split sums that are kept in the output's type would not be FP32.
  const uint32_t reductions = product_.type == DType::kFp32
                                  ? CUBLASLT_REDUCTION_SCHEME_MASK
                                  : CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  const Alignments& align = alignments_;
  for (const cublasStatus_t status :
       {Prefer(lt, preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
               uint64_t{limits.workspace_bytes}),
        Prefer(lt, preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
               reductions),
        Prefer(lt, preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
               align.b),
        Prefer(lt, preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
               align.a),
        Prefer(lt, preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
               align.c),
        Prefer(lt, preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
               align.d)}) {
    REPRISE_RETURN_IF_ERROR(
        Check(status, "cublasLtMatmulPreferenceSetAttribute"));
  }
  const int wanted = limits.candidates > 1 ? limits.candidates : 1;
  std::vector<cublasLtMatmulHeuristicResult_t> results(
      static_cast<size_t>(wanted));
  int found = 0;
  REPRISE_RETURN_IF_ERROR(
      Check(lt.MatmulAlgoGetHeuristic(handle_, description_.get(), b_.get(),
                                      a_.get(), c_.get(), d_.get(), preference,
                                      wanted, results.data(), &found),
            "cublasLtMatmulAlgoGetHeuristic"));
  results.resize(static_cast<size_t>(found));
  for (const cublasLtMatmulHeuristicResult_t& result : results) {
    if (result.state == CUBLAS_STATUS_SUCCESS &&
        result.workspaceSize <= limits.workspace_bytes) {
      candidates_.push_back(result);
    }
  }
  if (!candidates_.empty()) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat(name_, ": cuBLASLt has no algorithm with a workspace of ",
                   limits.workspace_bytes, " bytes"));
}

absl::Status MatMulPlan::CheckAddresses(
    int candidate, const MatMulAddresses& addresses) const {
  const size_t needed = workspace_bytes(candidate);
  if (addresses.workspace_bytes < needed ||
      (needed > 0 && !Fits(addresses.workspace, kWorkspaceAlignment))) {
    return absl::InvalidArgumentError(
        absl::StrCat(name_, ": a workspace of ", addresses.workspace_bytes,
                     " bytes, and ", needed, " are needed"));
  }
  const bool fits =
      Fits(addresses.a, alignments_.a) && Fits(addresses.b, alignments_.b) &&
      Fits(addresses.d, alignments_.d) &&
      (product_.beta == 0 || Fits(addresses.c, alignments_.c)) &&
      (!HasBias(product_) || Fits(addresses.bias, alignments_.bias));
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name_, ": an address is not aligned as was planned"));
}

absl::Status MatMulPlan::RunCandidate(int candidate,
                                      const MatMulAddresses& addresses,
                                      CUstream stream) {
  REPRISE_RETURN_IF_ERROR(CheckAddresses(candidate, addresses));
  if (HasBias(product_)) {
    REPRISE_RETURN_IF_ERROR(SetBias(addresses.bias));
  }
  const CUdeviceptr c = product_.beta != 0 ? addresses.c : addresses.d;
  return Check(lt_->Matmul(handle_, description_.get(), &product_.alpha,
                           Pointer(addresses.b), b_.get(), Pointer(addresses.a),
                           a_.get(), &product_.beta, Pointer(c), c_.get(),
                           Pointer(addresses.d), d_.get(),
                           &candidates_[static_cast<size_t>(candidate)].algo,
                           Pointer(addresses.workspace),
                           addresses.workspace_bytes, stream),
               "cublasLtMatmul");
}

}  // namespace reprise::cuda
