#include "runtime/cuda/matmul_plan.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/cuda/context.h"
#include "runtime/device/fault.h"
#include "tests/testing/fake_cublaslt.h"
#include "tests/testing/fake_cuda.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using testing::FakeCublasLt;
using testing::FakeCuda;
using testing::FakeMatMul;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::kInvalid;
using ::testing::Pointwise;
using testing::StatusIs;
using Epilogue = MatrixProduct::Epilogue;

// Places of a product: each operand at the start of a buffer of its own.
MatrixProduct Product(int64_t m, int64_t n, int64_t k) {
  MatrixProduct product;
  product.m = m;
  product.n = n;
  product.k = k;
  product.stride_a = m * k;
  product.stride_b = k * n;
  product.stride_c = m * n;
  product.stride_d = m * n;
  product.a = {0};
  product.b = {1};
  product.d = {3};
  return product;
}

std::vector<float> Numbers(int64_t count, int seed) {
  std::vector<float> numbers;
  for (int64_t i = 0; i < count; ++i) {
    numbers.push_back(static_cast<float>((i * 7 + seed) % 11 - 5) / 4);
  }
  return numbers;
}

// The definition, row-major.
struct Operands {
  std::vector<float> a, b, c, bias;
};
std::vector<float> Defined(const MatrixProduct& p, const Operands& x) {
  std::vector<float> d(static_cast<size_t>(p.batch * p.m * p.n));
  const auto at = [](const std::vector<float>& v, int64_t i) {
    return v[static_cast<size_t>(i)];
  };
  for (int64_t batch = 0; batch < p.batch; ++batch) {
    for (int64_t i = 0; i < p.m; ++i) {
      for (int64_t j = 0; j < p.n; ++j) {
        float sum = 0;
        for (int64_t k = 0; k < p.k; ++k) {
          const int64_t a = p.transpose_a ? k * p.m + i : i * p.k + k;
          const int64_t b = p.transpose_b ? j * p.k + k : k * p.n + j;
          sum +=
              at(x.a, batch * p.stride_a + a) * at(x.b, batch * p.stride_b + b);
        }
        float value = p.alpha * sum;
        const int64_t index = batch * p.m * p.n + i * p.n + j;
        if (p.beta != 0) value += p.beta * at(x.c, index);
        if (p.bias.buffer != plan::kNoBuffer) value += at(x.bias, j);
        if (p.epilogue == Epilogue::kRelu) value = std::max(value, 0.0f);
        if (p.epilogue == Epilogue::kGeluTanh) {
          value = 0.5f * value *
                  (1 + std::tanh(0.7978845608f *
                                 (value + 0.044715f * value * value * value)));
        }
        d[static_cast<size_t>(index)] = value;
      }
    }
  }
  return d;
}

class MatMulPlanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(d_.Init(0), CUDA_SUCCESS);
    context_ = *PrimaryContext::Retain(d_, 0);
    current_.emplace(*CurrentContext::Enter(*context_));
    handle_.emplace(*CublasLtHandle::Create(fake_.lt(), *current_));
    ASSERT_EQ(d_.StreamCreateWithPriority(&stream_, CU_STREAM_NON_BLOCKING, 0),
              CUDA_SUCCESS);
  }

  CUdeviceptr Memory(size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_EQ(d_.MemAlloc(&address, bytes), CUDA_SUCCESS);
    return address;
  }
  CUdeviceptr Filled(const std::vector<float>& values) {
    const size_t bytes = std::max<size_t>(values.size(), 1) * sizeof(float);
    const CUdeviceptr address = Memory(bytes);
    if (!values.empty()) {
      std::memcpy(cuda_.Host(address, bytes), values.data(), bytes);
    }
    return address;
  }
  std::vector<float> Read(CUdeviceptr address, size_t count) {
    std::vector<float> values(count);
    const size_t bytes = count * sizeof(float);
    std::memcpy(values.data(), cuda_.Host(address, bytes), bytes);
    return values;
  }

  // Runs the product, and compares it with its definition.
  void ExpectDefined(const MatrixProduct& product) {
    const Operands x = {
        Numbers(product.batch * product.m * product.k, 1),
        Numbers(product.batch * product.k * product.n, 2),
        Numbers(product.batch * product.m * product.n, 3),
        Numbers(product.n, 4),
    };
    auto plan = MatMulPlan::Create(*handle_, product);
    ASSERT_THAT(plan, IsOk());
    const auto count =
        static_cast<size_t>(product.batch * product.m * product.n);
    MatMulAddresses at;
    at.a = Filled(x.a);
    at.b = Filled(x.b);
    at.c = Filled(x.c);
    at.d = Memory(count * sizeof(float));
    at.bias = Filled(x.bias);
    ASSERT_THAT(plan->Run(at, stream_), IsOk());
    EXPECT_THAT(Read(at.d, count),
                Pointwise(FloatNear(1e-4f), Defined(product, x)));
    EXPECT_THAT(cuda_.misuses(), IsEmpty());
  }

  FakeCuda cuda_;
  const Driver& d_ = cuda_.driver();
  FakeCublasLt fake_{cuda_};
  std::unique_ptr<PrimaryContext> context_;
  std::optional<CurrentContext> current_;
  std::optional<CublasLtHandle> handle_;
  CUstream stream_ = nullptr;
};

TEST_F(MatMulPlanTest, EveryTranspositionIsTheRowMajorProduct) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      MatrixProduct product = Product(3, 5, 4);
      product.transpose_a = transpose_a;
      product.transpose_b = transpose_b;
      ExpectDefined(product);
    }
  }
}

TEST_F(MatMulPlanTest, TheBiasGoesAlongTheColumnsWithEachEpilogue) {
  for (const Epilogue epilogue :
       {Epilogue::kNone, Epilogue::kRelu, Epilogue::kGeluTanh}) {
    for (const bool biased : {false, true}) {
      MatrixProduct product = Product(2, 7, 3);
      product.epilogue = epilogue;
      if (biased) product.bias = {4};
      ExpectDefined(product);
    }
  }
}

TEST_F(MatMulPlanTest, BatchesHaveStridesAndMayShareAnOperand) {
  MatrixProduct product = Product(3, 2, 4);
  product.batch = 5;
  ExpectDefined(product);
  product.stride_b = 0;
  product.bias = {4};
  ExpectDefined(product);
}

TEST_F(MatMulPlanTest, AResidualIsAdded) {
  MatrixProduct product = Product(4, 3, 2);
  product.batch = 2;
  product.alpha = 0.5f;
  product.beta = 2;
  product.c = {2};
  product.epilogue = Epilogue::kRelu;
  ExpectDefined(product);
}

TEST_F(MatMulPlanTest, OneRowAndOneColumnAreProductsToo) {
  ExpectDefined(Product(1, 6, 5));
  ExpectDefined(Product(6, 1, 5));
  ExpectDefined(Product(1, 1, 1));
}

TEST_F(MatMulPlanTest, TypesAndPrecisionAreWhatTheyShould) {
  struct Row {
    DType type;
    bool tf32;
    cublasComputeType_t compute;
    cudaDataType layout;
    int64_t reductions;
  };
  constexpr Row kRows[] = {
      {DType::kFp32, false, CUBLAS_COMPUTE_32F, CUDA_R_32F, 7},
      {DType::kFp32, true, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, 7},
      {DType::kFp16, false, CUBLAS_COMPUTE_32F, CUDA_R_16F, 2},
      {DType::kBf16, true, CUBLAS_COMPUTE_32F, CUDA_R_16BF, 2},
  };
  for (const Row& row : kRows) {
    MatrixProduct product = Product(2, 2, 2);
    product.type = row.type;
    product.tf32 = row.tf32;
    product.bias = {4};
    auto plan = MatMulPlan::Create(*handle_, product);
    ASSERT_THAT(plan, IsOk());
    EXPECT_EQ(fake_.preferences()[CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK],
              row.reductions);
    const CUdeviceptr memory = Memory(64);
    ASSERT_THAT(
        plan->Run({.a = memory, .b = memory, .d = memory, .bias = memory},
                  stream_),
        IsOk());
    const FakeMatMul last = fake_.products().back();
    EXPECT_EQ(last.description.compute, row.compute);
    EXPECT_EQ(last.description.scale, CUDA_R_32F);
    EXPECT_EQ(last.a.type, row.layout);
    EXPECT_EQ(
        last.description.attributes.at(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE),
        row.layout);
  }
}

TEST_F(MatMulPlanTest, AlignmentsAreThoseOfPlacesAndStrides) {
  MatrixProduct product = Product(4, 4, 4);
  product.a.offset = 8;
  ASSERT_THAT(MatMulPlan::Create(*handle_, product), IsOk());
  // Their A is our B.
  EXPECT_EQ(fake_.preferences()[CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES], 8);
  EXPECT_EQ(fake_.preferences()[CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES],
            64);
  product.batch = 2;
  product.stride_b = 17;
  ASSERT_THAT(MatMulPlan::Create(*handle_, product), IsOk());
  EXPECT_EQ(fake_.preferences()[CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES], 4);
}

TEST_F(MatMulPlanTest, TheChosenCandidateRunsAndOthersMayBeTried) {
  fake_.SetCandidates({1024, 0, 1 << 30, 2048});
  auto plan = MatMulPlan::Create(*handle_, Product(2, 2, 2));
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->candidates(), 3);  // one needs too much
  EXPECT_EQ(plan->workspace_bytes(), 1024u);
  EXPECT_EQ(plan->workspace_bytes(2), 2048u);
  MatMulAddresses at = {.a = Memory(64), .b = Memory(64), .d = Memory(64)};
  at.workspace = Memory(2048);
  at.workspace_bytes = 2048;
  EXPECT_THAT(plan->RunCandidate(2, at, stream_), IsOk());
  EXPECT_EQ(fake_.products().back().candidate, 3);
  plan->Choose(1);
  EXPECT_EQ(plan->chosen(), 1);
  EXPECT_EQ(plan->workspace_bytes(), 0u);
  EXPECT_THAT(plan->Run(at, stream_), IsOk());
  EXPECT_EQ(fake_.products().back().candidate, 1);
  EXPECT_EQ(fake_.questions(), 1);
}

TEST_F(MatMulPlanTest, TheLimitsReachTheHeuristic) {
  fake_.SetCandidates(std::vector<size_t>(20, 0));
  const auto plan = MatMulPlan::Create(
      *handle_, Product(2, 2, 2), {.workspace_bytes = 4096, .candidates = 5});
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->candidates(), 5);
  EXPECT_EQ(fake_.preferences()[CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES],
            4096);
  EXPECT_EQ(MatMulPlan::Create(*handle_, Product(2, 2, 2))->candidates(), 16);
}

TEST_F(MatMulPlanTest, MayBeCapturedAndReplayed) {
  MatrixProduct product = Product(1, 1, 1);
  product.bias = {4};
  auto plan = MatMulPlan::Create(*handle_, product);
  ASSERT_THAT(plan, IsOk());
  const MatMulAddresses at = {.a = Filled({3}),
                              .b = Filled({4}),
                              .d = Filled({0}),
                              .bias = Filled({1})};
  ASSERT_EQ(d_.StreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
            CUDA_SUCCESS);
  EXPECT_THAT(plan->Run(at, stream_), IsOk());
  CUgraph graph = nullptr;
  ASSERT_EQ(d_.StreamEndCapture(stream_, &graph), CUDA_SUCCESS);
  EXPECT_EQ(Read(at.d, 1)[0], 0);
  CUgraphExec exec = nullptr;
  CUDA_GRAPH_INSTANTIATE_PARAMS params = {};
  ASSERT_EQ(d_.GraphInstantiateWithParams(&exec, graph, &params), CUDA_SUCCESS);
  EXPECT_EQ(d_.GraphLaunch(exec, stream_), CUDA_SUCCESS);
  EXPECT_EQ(Read(at.d, 1)[0], 13);
  EXPECT_THAT(cuda_.misuses(), IsEmpty());
}

TEST_F(MatMulPlanTest, AddressesThatWereNotPlannedAreRefused) {
  fake_.SetCandidates({1024});
  MatrixProduct product = Product(2, 2, 2);
  product.bias = {4};
  auto plan = MatMulPlan::Create(*handle_, product);
  ASSERT_THAT(plan, IsOk());
  const CUdeviceptr memory = Memory(1024);
  const MatMulAddresses good = {.a = memory,
                                .b = memory,
                                .d = memory,
                                .bias = memory,
                                .workspace = memory,
                                .workspace_bytes = 1024};
  EXPECT_THAT(plan->Run(good, stream_), IsOk());
  MatMulAddresses at = good;
  at.workspace_bytes = 1000;
  EXPECT_THAT(plan->Run(at, stream_),
              StatusIs(kInvalid, HasSubstr("1000 bytes, and 1024 are needed")));
  at = good;
  at.workspace = 0;
  EXPECT_THAT(plan->Run(at, stream_), StatusIs(kInvalid));
  at = good;
  at.a = memory + 4;
  EXPECT_THAT(plan->Run(at, stream_),
              StatusIs(kInvalid, HasSubstr("not aligned as was planned")));
  at = good;
  at.bias = 0;
  EXPECT_THAT(plan->Run(at, stream_), StatusIs(kInvalid));
  EXPECT_EQ(fake_.products().size(), 1u);
}

TEST_F(MatMulPlanTest, WhatIsNoProductIsRefused) {
  EXPECT_THAT(MatMulPlan::Create(*handle_, Product(0, 2, 2)),
              StatusIs(kInvalid, "matrix product 0x2x2 FP32: bad size"));
  MatrixProduct product = Product(2, 2, 2);
  product.d = {plan::kNoBuffer};
  EXPECT_THAT(MatMulPlan::Create(*handle_, product), StatusIs(kInvalid));
  product = Product(2, 2, 2);
  product.beta = 1;
  EXPECT_THAT(MatMulPlan::Create(*handle_, product), StatusIs(kInvalid));
  product = Product(2, 2, 2);
  product.batch = 2;
  product.stride_d = 3;
  EXPECT_THAT(MatMulPlan::Create(*handle_, product),
              StatusIs(kInvalid, HasSubstr("overlap")));
}

TEST_F(MatMulPlanTest, WhatTheLibraryDoesNotHaveIsLeftToOthers) {
  MatrixProduct product = Product(2, 2, 2);
  product.epilogue = Epilogue::kGeluErf;
  EXPECT_THAT(MatMulPlan::Create(*handle_, product),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("erf")));
  product = Product(2, 2, 2);
  product.type = DType::kFp64;
  EXPECT_THAT(MatMulPlan::Create(*handle_, product),
              StatusIs(absl::StatusCode::kUnimplemented));
  fake_.SetCandidates({});
  EXPECT_THAT(
      MatMulPlan::Create(*handle_, Product(2, 2, 2)),
      StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("no algorithm")));
}

TEST_F(MatMulPlanTest, NothingIsLeftOfAPlanThatFails) {
  const int before = fake_.live();
  MatrixProduct product = Product(2, 2, 2);
  product.batch = 2;
  product.bias = {4};
  for (const char* function :
       {"MatmulDescCreate", "MatmulDescSetAttribute", "MatrixLayoutCreate",
        "MatrixLayoutSetAttribute", "MatmulPreferenceCreate",
        "MatmulPreferenceSetAttribute", "MatmulAlgoGetHeuristic"}) {
    fake_.FailNext(function, CUBLAS_STATUS_ALLOC_FAILED);
    EXPECT_THAT(MatMulPlan::Create(*handle_, product),
                StatusIs(absl::StatusCode::kResourceExhausted))
        << function;
    EXPECT_EQ(fake_.live(), before) << function;
  }
  {
    auto plan = MatMulPlan::Create(*handle_, product);
    ASSERT_THAT(plan, IsOk());
    const MatMulPlan moved = *std::move(plan);
    EXPECT_GT(fake_.live(), before);
  }
  EXPECT_EQ(fake_.live(), before);
}

TEST_F(MatMulPlanTest, AFailedRunNamesTheProduct) {
  MatrixProduct product = Product(2, 3, 4);
  product.batch = 6;
  auto plan = MatMulPlan::Create(*handle_, product);
  ASSERT_THAT(plan, IsOk());
  fake_.FailNext("Matmul", CUBLAS_STATUS_EXECUTION_FAILED);
  const CUdeviceptr memory = Memory(1024);
  const absl::Status status =
      plan->Run({.a = memory, .b = memory, .d = memory}, stream_);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable,
                               HasSubstr("matrix product 6x2x3x4 FP32: "
                                         "cublasLtMatmul: CUBLAS_STATUS")));
  EXPECT_TRUE(IsDeviceFault(status));
}

}  // namespace
}  // namespace reprise::cuda
