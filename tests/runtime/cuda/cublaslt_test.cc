#include "runtime/cuda/cublaslt.h"

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/status.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/driver.h"
#include "tests/testing/fake_cublaslt.h"
#include "tests/testing/fake_cuda.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::testing::AllOf;
using testing::FakeCublasLt;
using testing::FakeCuda;
using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::Not;
using testing::StatusIs;

TEST(CublasLtStatusTest, EachStatusHasItsCodeAndClass) {
  FakeCuda cuda;
  const FakeCublasLt fake(cuda);
  struct Row {
    cublasStatus_t status;
    absl::StatusCode code;
    ErrorClass error;
  };
  using Code = absl::StatusCode;
  constexpr Row kRows[] = {
      {CUBLAS_STATUS_NOT_INITIALIZED, Code::kInternal, ErrorClass::kRung},
      {CUBLAS_STATUS_ALLOC_FAILED, Code::kResourceExhausted, ErrorClass::kRung},
      {CUBLAS_STATUS_INVALID_VALUE, Code::kInternal, ErrorClass::kRequest},
      {CUBLAS_STATUS_ARCH_MISMATCH, Code::kUnimplemented, ErrorClass::kRung},
      {CUBLAS_STATUS_MAPPING_ERROR, Code::kUnavailable,
       ErrorClass::kContextFatal},
      {CUBLAS_STATUS_EXECUTION_FAILED, Code::kUnavailable,
       ErrorClass::kContextFatal},
      {CUBLAS_STATUS_INTERNAL_ERROR, Code::kInternal, ErrorClass::kRung},
      {CUBLAS_STATUS_NOT_SUPPORTED, Code::kUnimplemented, ErrorClass::kRung},
      {CUBLAS_STATUS_LICENSE_ERROR, Code::kInternal, ErrorClass::kRung},
      {static_cast<cublasStatus_t>(12), Code::kUnavailable,
       ErrorClass::kContextFatal},
  };
  for (const Row& row : kRows) {
    const absl::Status status = ToStatus(fake.lt(), row.status, "x");
    EXPECT_THAT(status, StatusIs(row.code)) << row.status;
    EXPECT_EQ(ErrorClassOf(Annotate(status, "model 'a'")), row.error)
        << row.status;
  }
  EXPECT_THAT(ToStatus(fake.lt(), CUBLAS_STATUS_SUCCESS, "x"), IsOk());
}

TEST(CublasLtStatusTest, TheTextNamesTheCallAndTheStatus) {
  FakeCuda cuda;
  const FakeCublasLt fake(cuda);
  EXPECT_THAT(
      ToStatus(fake.lt(), CUBLAS_STATUS_EXECUTION_FAILED, "cublasLtMatmul"),
      StatusIs(
          absl::StatusCode::kUnavailable,
          "cublasLtMatmul: CUBLAS_STATUS_EXECUTION_FAILED (13): it failed"));
}

TEST(FillCublasLtTest, AMissingFunctionIsNamed) {
  EXPECT_THAT(FillCublasLt([](const char* name) -> void* {
                static int something = 0;
                return std::string(name) == "cublasLtMatmul" ? nullptr
                                                             : &something;
              }),
              StatusIs(absl::StatusCode::kNotFound,
                       "cuBLASLt has no function cublasLtMatmul"));
}

TEST(LoadCublasLtTest, AMissingLibraryNamesWhatWasTried) {
  const auto old = LoadCublasLt(12040);
  if (!old.ok()) {
    EXPECT_THAT(old, StatusIs(absl::StatusCode::kNotFound,
                              AllOf(HasSubstr("need cuBLASLt"),
                                    HasSubstr("libcublasLt.so.12"),
                                    Not(HasSubstr("libcublasLt.so.13")))));
  }
  const auto lt = LoadCublasLt(13000);
  if (lt.ok()) GTEST_SKIP() << "cuBLASLt is here: " << CublasLtVersion(*lt);
  EXPECT_THAT(lt, StatusIs(absl::StatusCode::kNotFound,
                           HasSubstr("libcublasLt.so.13, libcublasLt.so.12")));
}

class CublasLtHandleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuda_.driver().Init(0), CUDA_SUCCESS);
    auto context = PrimaryContext::Retain(cuda_.driver(), 0);
    ASSERT_THAT(context, IsOk());
    context_ = *std::move(context);
  }

  FakeCuda cuda_;
  FakeCublasLt fake_{cuda_};
  std::unique_ptr<PrimaryContext> context_;
};

TEST_F(CublasLtHandleTest, IsDestroyedWithItsOwner) {
  auto current = CurrentContext::Enter(*context_);
  ASSERT_THAT(current, IsOk());
  {
    const auto handle = CublasLtHandle::Create(fake_.lt(), *current);
    ASSERT_THAT(handle, IsOk());
    EXPECT_NE(handle->get(), nullptr);
    EXPECT_EQ(fake_.live(), 1);
  }
  EXPECT_EQ(fake_.live(), 0);
}

TEST_F(CublasLtHandleTest, AFailureNamesTheVersionAndTheGpu) {
  auto current = CurrentContext::Enter(*context_);
  ASSERT_THAT(current, IsOk());
  fake_.FailNext("Create", CUBLAS_STATUS_ALLOC_FAILED);
  EXPECT_THAT(CublasLtHandle::Create(fake_.lt(), *current),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("starting cuBLASLt 13.0.0 on GPU 0")));
}

TEST(CublasLtVersionTest, SplitsTheNumber) {
  CublasLt lt;
  lt.GetVersion = [] { return size_t{120805}; };
  EXPECT_EQ(CublasLtVersion(lt), "12.8.5");
}

}  // namespace
}  // namespace reprise::cuda
