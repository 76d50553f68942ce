#include "tests/testing/fake_cublaslt.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <utility>

#include "runtime/tensor/float16.h"

namespace reprise::testing {
namespace {

std::atomic<FakeCublasLt*> current_lt = nullptr;

size_t SizeOf(cudaDataType type) { return type == CUDA_R_32F ? 4 : 2; }

float Load(cudaDataType type, const std::byte* from) {
  if (type == CUDA_R_32F) {
    float value = 0;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }
  uint16_t bits = 0;
  std::memcpy(&bits, from, sizeof(bits));
  return type == CUDA_R_16F ? Half::ToFloat(bits) : BFloat16::ToFloat(bits);
}

void Store(cudaDataType type, float value, std::byte* to) {
  if (type == CUDA_R_32F) {
    std::memcpy(to, &value, sizeof(value));
    return;
  }
  const uint16_t bits =
      type == CUDA_R_16F ? Half::FromFloat(value) : BFloat16::FromFloat(value);
  std::memcpy(to, &bits, sizeof(bits));
}

int64_t Attribute(const FakeMatMul& product, int attribute) {
  const auto it = product.description.attributes.find(attribute);
  return it != product.description.attributes.end() ? it->second : 0;
}

float Finish(int64_t epilogue, float x) {
  if ((epilogue & CUBLASLT_EPILOGUE_GELU) != 0) {
    const float inner = 0.7978845608f * (x + 0.044715f * x * x * x);
    return 0.5f * x * (1 + std::tanh(inner));
  }
  return (epilogue & CUBLASLT_EPILOGUE_RELU) != 0 ? std::max(x, 0.0f) : x;
}

// A matrix in memory, column-major; null where it is not all there.
struct Matrix {
  const FakeLayout& layout;
  std::byte* data;

  Matrix(const FakeKernelCall::Resolve& resolve, const FakeLayout& of,
         CUdeviceptr at)
      : layout(of) {
    const int64_t last = static_cast<int64_t>(of.batch - 1) * of.stride +
                         static_cast<int64_t>(of.columns - 1) * of.leading +
                         static_cast<int64_t>(of.rows);
    data = static_cast<std::byte*>(
        resolve(at, static_cast<size_t>(last) * SizeOf(of.type)));
  }
  std::byte* At(int64_t batch, int64_t row, int64_t column) const {
    const int64_t index = batch * layout.stride + column * layout.leading + row;
    return data + static_cast<size_t>(index) * SizeOf(layout.type);
  }
  float Get(int64_t batch, int64_t row, int64_t column) const {
    return Load(layout.type, At(batch, row, column));
  }
};

void Compute(const FakeMatMul& p, const FakeKernelCall::Resolve& resolve) {
  const Matrix a(resolve, p.a, p.a_at);
  const Matrix b(resolve, p.b, p.b_at);
  const Matrix c(resolve, p.c, p.c_at);
  const Matrix d(resolve, p.d, p.d_at);
  const bool transpose_a =
      Attribute(p, CUBLASLT_MATMUL_DESC_TRANSA) == CUBLAS_OP_T;
  const bool transpose_b =
      Attribute(p, CUBLASLT_MATMUL_DESC_TRANSB) == CUBLAS_OP_T;
  const int64_t epilogue = Attribute(p, CUBLASLT_MATMUL_DESC_EPILOGUE);
  const bool biased = (epilogue & CUBLASLT_EPILOGUE_BIAS) != 0;
  const auto rows = static_cast<int64_t>(p.d.rows);
  const auto columns = static_cast<int64_t>(p.d.columns);
  const auto inner = static_cast<int64_t>(transpose_a ? p.a.rows : p.a.columns);
  const std::byte* bias = nullptr;
  if (biased) {
    bias = static_cast<const std::byte*>(
        resolve(static_cast<CUdeviceptr>(
                    Attribute(p, CUBLASLT_MATMUL_DESC_BIAS_POINTER)),
                p.d.rows * SizeOf(p.d.type)));
  }
  if (a.data == nullptr || b.data == nullptr || c.data == nullptr ||
      d.data == nullptr || (biased && bias == nullptr)) {
    return;
  }
  if (p.scratch_bytes > 0) {
    void* const scratch = resolve(p.workspace, p.scratch_bytes);
    if (scratch == nullptr) return;
    std::memset(scratch, 0x5a, p.scratch_bytes);
  }
  for (int64_t batch = 0; batch < p.d.batch; ++batch) {
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t i = 0; i < rows; ++i) {
        float sum = 0;
        for (int64_t k = 0; k < inner; ++k) {
          sum += (transpose_a ? a.Get(batch, k, i) : a.Get(batch, i, k)) *
                 (transpose_b ? b.Get(batch, j, k) : b.Get(batch, k, j));
        }
        float value = p.alpha * sum;
        if (p.beta != 0) value += p.beta * c.Get(batch, i, j);
        if (biased) {
          value +=
              Load(p.d.type, bias + static_cast<size_t>(i) * SizeOf(p.d.type));
        }
        Store(p.d.type, Finish(epilogue, value), d.At(batch, i, j));
      }
    }
  }
}

// Whether sizes, batches and types of a product go together.
bool Consistent(const FakeMatMul& p) {
  const bool transpose_a =
      Attribute(p, CUBLASLT_MATMUL_DESC_TRANSA) == CUBLAS_OP_T;
  const bool transpose_b =
      Attribute(p, CUBLASLT_MATMUL_DESC_TRANSB) == CUBLAS_OP_T;
  const uint64_t m = transpose_a ? p.a.columns : p.a.rows;
  const uint64_t k = transpose_a ? p.a.rows : p.a.columns;
  const uint64_t n = transpose_b ? p.b.rows : p.b.columns;
  const uint64_t k_of_b = transpose_b ? p.b.columns : p.b.rows;
  for (const FakeLayout* layout : {&p.a, &p.b, &p.c, &p.d}) {
    if (layout->batch != p.d.batch || layout->type != p.d.type ||
        layout->leading < static_cast<int64_t>(layout->rows)) {
      return false;
    }
  }
  return k == k_of_b && p.d.rows == m && p.d.columns == n && p.c.rows == m &&
         p.c.columns == n;
}

CUdeviceptr Address(const void* pointer) {
  return static_cast<CUdeviceptr>(reinterpret_cast<uintptr_t>(pointer));
}

// An attribute of any size that the library has, as a number.
int64_t Number(const void* from, size_t bytes) {
  if (bytes == sizeof(int32_t)) {
    int32_t value = 0;
    std::memcpy(&value, from, bytes);
    return value;
  }
  int64_t value = 0;
  std::memcpy(&value, from, std::min(bytes, sizeof(value)));
  return value;
}

}  // namespace

// The functions; each takes the lock of the one in use.
struct FakeCublasLt::Functions {
  static FakeCublasLt& Lt() { return *current_lt.load(); }

  template <typename Map>
  static cublasStatus_t Make(const char* function, Map FakeCublasLt::*map,
                             typename Map::key_type* handle,
                             typename Map::mapped_type value)
      ABSL_NO_THREAD_SAFETY_ANALYSIS {
    FakeCublasLt& lt = Lt();
    absl::MutexLock lock(&lt.mu_);
    const cublasStatus_t status = lt.Injected(function);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    lt.last_handle_ += 16;
    *handle = reinterpret_cast<typename Map::key_type>(lt.last_handle_);
    (lt.*map)[*handle] = std::move(value);
    return CUBLAS_STATUS_SUCCESS;
  }

  template <typename Map>
  static cublasStatus_t Drop(const char* function, Map FakeCublasLt::*map,
                             typename Map::key_type handle)
      ABSL_NO_THREAD_SAFETY_ANALYSIS {
    FakeCublasLt& lt = Lt();
    absl::MutexLock lock(&lt.mu_);
    const cublasStatus_t status = lt.Injected(function);
    if ((lt.*map).erase(handle) == 0) return CUBLAS_STATUS_INVALID_VALUE;
    return status;
  }

  static cublasStatus_t Create(cublasLtHandle_t* handle) {
    return Make("Create", &FakeCublasLt::handles_, handle, 1);
  }
  static cublasStatus_t Destroy(cublasLtHandle_t handle) {
    return Drop("Destroy", &FakeCublasLt::handles_, handle);
  }
  static const char* GetStatusName(cublasStatus_t status) {
    switch (status) {
      case CUBLAS_STATUS_ALLOC_FAILED:
        return "CUBLAS_STATUS_ALLOC_FAILED";
      case CUBLAS_STATUS_EXECUTION_FAILED:
        return "CUBLAS_STATUS_EXECUTION_FAILED";
      case CUBLAS_STATUS_NOT_SUPPORTED:
        return "CUBLAS_STATUS_NOT_SUPPORTED";
      default:
        return "CUBLAS_STATUS_OTHER";
    }
  }
  static const char* GetStatusString(cublasStatus_t) { return "it failed"; }
  static size_t GetVersion() { return 130000; }

  static cublasStatus_t MatmulDescCreate(cublasLtMatmulDesc_t* handle,
                                         cublasComputeType_t compute,
                                         cudaDataType_t scale) {
    return Make("MatmulDescCreate", &FakeCublasLt::descriptions_, handle,
                FakeMatMulDescription{compute, scale, {}});
  }
  static cublasStatus_t MatmulDescDestroy(cublasLtMatmulDesc_t handle) {
    return Drop("MatmulDescDestroy", &FakeCublasLt::descriptions_, handle);
  }
  static cublasStatus_t MatmulDescSetAttribute(
      cublasLtMatmulDesc_t handle, cublasLtMatmulDescAttributes_t attribute,
      const void* value, size_t bytes) {
    FakeCublasLt& lt = Lt();
    absl::MutexLock lock(&lt.mu_);
    const cublasStatus_t status = lt.Injected("MatmulDescSetAttribute");
    const auto it = lt.descriptions_.find(handle);
    if (it == lt.descriptions_.end()) return CUBLAS_STATUS_INVALID_VALUE;
    if (status == CUBLAS_STATUS_SUCCESS) {
      it->second.attributes[attribute] = Number(value, bytes);
    }
    return status;
  }

  static cublasStatus_t MatrixLayoutCreate(cublasLtMatrixLayout_t* handle,
                                           cudaDataType type, uint64_t rows,
                                           uint64_t columns, int64_t leading) {
    return Make("MatrixLayoutCreate", &FakeCublasLt::layouts_, handle,
                FakeLayout{type, rows, columns, leading, 1, 0});
  }
  static cublasStatus_t MatrixLayoutDestroy(cublasLtMatrixLayout_t handle) {
    return Drop("MatrixLayoutDestroy", &FakeCublasLt::layouts_, handle);
  }
  static cublasStatus_t MatrixLayoutSetAttribute(
      cublasLtMatrixLayout_t handle, cublasLtMatrixLayoutAttribute_t attribute,
      const void* value, size_t bytes) {
    FakeCublasLt& lt = Lt();
    absl::MutexLock lock(&lt.mu_);
    const cublasStatus_t status = lt.Injected("MatrixLayoutSetAttribute");
    const auto it = lt.layouts_.find(handle);
    if (it == lt.layouts_.end()) return CUBLAS_STATUS_INVALID_VALUE;
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) {
      it->second.batch = static_cast<int32_t>(Number(value, bytes));
    } else if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET) {
      it->second.stride = Number(value, bytes);
    } else {
      return CUBLAS_STATUS_INVALID_VALUE;  // not in the fake
    }
    return CUBLAS_STATUS_SUCCESS;
  }

  static cublasStatus_t MatmulPreferenceCreate(
      cublasLtMatmulPreference_t* handle) {
    return Make("MatmulPreferenceCreate", &FakeCublasLt::preferences_, handle,
                {});
  }
  static cublasStatus_t MatmulPreferenceDestroy(
      cublasLtMatmulPreference_t handle) {
    return Drop("MatmulPreferenceDestroy", &FakeCublasLt::preferences_, handle);
  }
  static cublasStatus_t MatmulPreferenceSetAttribute(
      cublasLtMatmulPreference_t handle,
      cublasLtMatmulPreferenceAttributes_t attribute, const void* value,
      size_t bytes) {
    FakeCublasLt& lt = Lt();
    absl::MutexLock lock(&lt.mu_);
    const cublasStatus_t status = lt.Injected("MatmulPreferenceSetAttribute");
    const auto it = lt.preferences_.find(handle);
    if (it == lt.preferences_.end()) return CUBLAS_STATUS_INVALID_VALUE;
    if (status == CUBLAS_STATUS_SUCCESS) {
      it->second[attribute] = Number(value, bytes);
    }
    return status;
  }

  static cublasStatus_t MatmulAlgoGetHeuristic(
      cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
      cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
      cublasLtMatmulPreference_t preference, int wanted,
      cublasLtMatmulHeuristicResult_t* results, int* found) {
    FakeCublasLt& lt = Lt();
    absl::MutexLock lock(&lt.mu_);
    const cublasStatus_t status = lt.Injected("MatmulAlgoGetHeuristic");
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    ++lt.questions_;
    lt.asked_ = lt.preferences_.at(preference);
    *found = std::min(wanted, static_cast<int>(lt.candidates_.size()));
    for (int i = 0; i < *found; ++i) {
      results[i] = {};
      results[i].algo.data[0] = static_cast<uint64_t>(i);
      results[i].workspaceSize = lt.candidates_[static_cast<size_t>(i)];
      results[i].state = CUBLAS_STATUS_SUCCESS;
    }
    return CUBLAS_STATUS_SUCCESS;
  }

  static cublasStatus_t Matmul(
      cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
      const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
      const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
      const void* c, cublasLtMatrixLayout_t c_layout, void* d,
      cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algo,
      void* workspace, size_t workspace_bytes, cudaStream_t stream) {
    FakeCublasLt& lt = Lt();
    FakeMatMul product;
    {
      absl::MutexLock lock(&lt.mu_);
      const cublasStatus_t status = lt.Injected("Matmul");
      if (status != CUBLAS_STATUS_SUCCESS) return status;
      const auto described = lt.descriptions_.find(description);
      if (described == lt.descriptions_.end() ||
          !lt.handles_.contains(handle)) {
        return CUBLAS_STATUS_INVALID_VALUE;
      }
      product.description = described->second;
      product.a = lt.layouts_.at(a_layout);
      product.b = lt.layouts_.at(b_layout);
      product.c = lt.layouts_.at(c_layout);
      product.d = lt.layouts_.at(d_layout);
      product.a_at = Address(a);
      product.b_at = Address(b);
      product.c_at = Address(c);
      product.d_at = Address(d);
      std::memcpy(&product.alpha, alpha, sizeof(product.alpha));
      std::memcpy(&product.beta, beta, sizeof(product.beta));
      product.candidate = static_cast<int>(algo->data[0]);
      product.workspace = Address(workspace);
      product.workspace_bytes = workspace_bytes;
      const auto candidate = static_cast<size_t>(product.candidate);
      product.scratch_bytes =
          candidate < lt.candidates_.size() ? lt.candidates_[candidate] : 0;
      if (!Consistent(product)) return CUBLAS_STATUS_INVALID_VALUE;
      lt.products_.push_back(product);
    }
    FakeLaunch launch;
    launch.name = "cublaslt";
    const CUresult result = lt.cuda_.LaunchOwn(
        stream, std::move(launch), [product](const FakeKernelCall& call) {
          Compute(product, call.resolve());
        });
    return result == CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS
                                  : CUBLAS_STATUS_EXECUTION_FAILED;
  }
};

FakeCublasLt::FakeCublasLt(FakeCuda& cuda) : cuda_(cuda) {
#define REPRISE_FAKE_SET(name) lt_.name = Functions::name;
  REPRISE_CUBLASLT_FUNCTIONS(REPRISE_FAKE_SET)
#undef REPRISE_FAKE_SET
  current_lt.store(this);
}

FakeCublasLt::~FakeCublasLt() { current_lt.store(nullptr); }

cublasStatus_t FakeCublasLt::Injected(const std::string& function) {
  const auto it = fail_next_.find(function);
  if (it == fail_next_.end()) return CUBLAS_STATUS_SUCCESS;
  const cublasStatus_t status = it->second;
  fail_next_.erase(it);
  return status;
}

void FakeCublasLt::SetCandidates(std::vector<size_t> workspaces) {
  absl::MutexLock lock(&mu_);
  candidates_ = std::move(workspaces);
}

void FakeCublasLt::FailNext(const std::string& function,
                            cublasStatus_t status) {
  absl::MutexLock lock(&mu_);
  fail_next_[function] = status;
}

std::vector<FakeMatMul> FakeCublasLt::products() const {
  absl::MutexLock lock(&mu_);
  return products_;
}

std::map<int, int64_t> FakeCublasLt::preferences() const {
  absl::MutexLock lock(&mu_);
  return asked_;
}

int FakeCublasLt::questions() const {
  absl::MutexLock lock(&mu_);
  return questions_;
}

int FakeCublasLt::live() const {
  absl::MutexLock lock(&mu_);
  return static_cast<int>(handles_.size() + descriptions_.size() +
                          layouts_.size() + preferences_.size());
}

}  // namespace reprise::testing
