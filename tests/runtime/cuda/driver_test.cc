#include "runtime/cuda/driver.h"

#include <cuda.h>

#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/status.h"
#include "runtime/device/fault.h"
#include "tests/testing/fake_cuda.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::testing::AllOf;
using testing::FakeCuda;
using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::Not;
using testing::StatusIs;

constexpr ErrorClass kRequest = ErrorClass::kRequest;
constexpr ErrorClass kRung = ErrorClass::kRung;
constexpr ErrorClass kContextFatal = ErrorClass::kContextFatal;
constexpr ErrorClass kProcessFatal = ErrorClass::kProcessFatal;

const std::map<int, ErrorClass>& Expected() {
  static const std::map<int, ErrorClass> expected = {
      {0, kRequest},        {1, kRequest},        {2, kRung},
      {3, kProcessFatal},   {4, kProcessFatal},   {5, kRequest},
      {6, kRequest},        {7, kRequest},        {8, kRequest},
      {34, kProcessFatal},  {36, kRung},          {46, kContextFatal},
      {100, kContextFatal}, {101, kRequest},      {102, kContextFatal},
      {200, kRung},         {201, kRequest},      {202, kRequest},
      {205, kRung},         {206, kRung},         {207, kRequest},
      {208, kRequest},      {209, kRung},         {210, kRequest},
      {211, kRequest},      {212, kRequest},      {213, kRequest},
      {214, kContextFatal}, {215, kRequest},      {216, kRequest},
      {217, kRequest},      {218, kRung},         {219, kRequest},
      {220, kContextFatal}, {221, kRung},         {222, kRung},
      {223, kRung},         {224, kRequest},      {225, kRung},
      {226, kProcessFatal}, {300, kRung},         {301, kRung},
      {302, kRung},         {303, kRung},         {304, kRung},
      {400, kRequest},      {401, kRung},         {402, kRequest},
      {500, kRung},         {600, kRequest},      {700, kProcessFatal},
      {701, kRung},         {702, kProcessFatal}, {703, kRung},
      {704, kRequest},      {705, kRequest},      {708, kRequest},
      {709, kContextFatal}, {710, kContextFatal}, {711, kRequest},
      {712, kRequest},      {713, kRequest},      {714, kProcessFatal},
      {715, kProcessFatal}, {716, kProcessFatal}, {717, kProcessFatal},
      {718, kProcessFatal}, {719, kProcessFatal}, {720, kRung},
      {721, kProcessFatal}, {800, kRung},         {801, kRung},
      {802, kProcessFatal}, {803, kProcessFatal}, {804, kProcessFatal},
      {805, kProcessFatal}, {806, kProcessFatal}, {807, kProcessFatal},
      {808, kProcessFatal}, {809, kProcessFatal}, {810, kProcessFatal},
      {811, kRung},         {812, kRung},         {900, kRung},
      {901, kRung},         {902, kRung},         {903, kRung},
      {904, kRung},         {905, kRung},         {906, kRung},
      {907, kRung},         {908, kRung},         {909, kRequest},
      {910, kRung},         {911, kProcessFatal}, {912, kRung},
      {913, kRung},         {914, kRequest},      {915, kRequest},
      {916, kContextFatal}, {999, kProcessFatal},
  };
  return expected;
}

// Each CUresult of the header that this was compiled with: name and number.
std::map<std::string, int> ResultsOfHeader() {
  std::ifstream file(REPRISE_CUDA_HEADER);
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  const size_t begin = all.find("typedef enum cudaError_enum {");
  const size_t end = all.find("} CUresult;");
  if (begin == std::string::npos || end == std::string::npos) return {};
  const std::string body = all.substr(begin, end - begin);
  const std::regex entry("(CUDA_(?:SUCCESS|ERROR_\\w+))\\s*=\\s*(\\d+)");
  std::map<std::string, int> results;
  for (std::sregex_iterator it(body.begin(), body.end(), entry), last;
       it != last; ++it) {
    results[(*it)[1]] = std::stoi((*it)[2]);
  }
  return results;
}

TEST(ClassOfTest, EveryResultOfTheHeaderHasItsClass) {
  const std::map<std::string, int> results = ResultsOfHeader();
  ASSERT_GT(results.size(), 80u) << REPRISE_CUDA_HEADER;
  for (const auto& [name, number] : results) {
    const auto it = Expected().find(number);
    if (it == Expected().end()) {
      ADD_FAILURE() << name << " (" << number << ") has no class in this test";
      continue;
    }
    EXPECT_EQ(ErrorClassName(ClassOf(static_cast<CUresult>(number))),
              ErrorClassName(it->second))
        << name;
  }
}

TEST(ClassOfTest, AResultThatNobodyKnowsEndsTheProcess) {
  EXPECT_EQ(ClassOf(static_cast<CUresult>(917)), kProcessFatal);
  EXPECT_EQ(ClassOf(static_cast<CUresult>(998)), kProcessFatal);
}

TEST(ToStatusTest, NamesTheCallTheErrorAndItsNumber) {
  const FakeCuda cuda;
  EXPECT_THAT(ToStatus(cuda.driver(), CUDA_SUCCESS, "cuInit"), IsOk());
  EXPECT_THAT(
      ToStatus(cuda.driver(), CUDA_ERROR_ILLEGAL_ADDRESS, "cuGraphLaunch"),
      StatusIs(absl::StatusCode::kUnavailable,
               "cuGraphLaunch: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal "
               "memory access was encountered"));
}

TEST(ToStatusTest, ATableThatIsEmptyStillGivesTheNumber) {
  EXPECT_THAT(ToStatus(Driver(), CUDA_ERROR_OUT_OF_MEMORY, "cuMemAlloc"),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "cuMemAlloc: unknown CUDA error (2)"));
}

TEST(ToStatusTest, TheCodeSaysWhatToDo) {
  const FakeCuda cuda;
  const std::map<CUresult, absl::StatusCode> codes = {
      {CUDA_ERROR_OUT_OF_MEMORY, absl::StatusCode::kResourceExhausted},
      {CUDA_ERROR_ECC_UNCORRECTABLE, absl::StatusCode::kUnavailable},
      {CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
       absl::StatusCode::kFailedPrecondition},
      {CUDA_ERROR_NO_BINARY_FOR_GPU, absl::StatusCode::kFailedPrecondition},
      {CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
       absl::StatusCode::kFailedPrecondition},
      {CUDA_ERROR_INVALID_VALUE, absl::StatusCode::kInternal},
      {CUDA_ERROR_UNKNOWN, absl::StatusCode::kUnavailable},
  };
  for (const auto& [result, code] : codes) {
    EXPECT_THAT(ToStatus(cuda.driver(), result, "x"), StatusIs(code));
  }
}

TEST(ToStatusTest, SaysWhatAnOperatorCanDo) {
  const FakeCuda cuda;
  EXPECT_THAT(ToStatus(cuda.driver(), CUDA_ERROR_SYSTEM_NOT_READY, "cuInit"),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("is the fabric manager running?")));
  EXPECT_THAT(
      ToStatus(cuda.driver(), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "capture"),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               HasSubstr("legacy default stream was used during a capture")));
}

TEST(DeviceFaultTest, HoldsWhateverIsPutInFrontOfTheMessage) {
  const FakeCuda cuda;
  for (const CUresult result :
       {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_ASSERT, CUDA_ERROR_UNKNOWN}) {
    const absl::Status status = ToStatus(cuda.driver(), result, "replay");
    EXPECT_TRUE(IsDeviceFault(Annotate(status, "model 'a' version 1")));
    EXPECT_EQ(ErrorClassOf(Annotate(status, "x")), ClassOf(result));
  }
  for (const CUresult result :
       {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY,
        CUDA_ERROR_STREAM_CAPTURE_INVALIDATED}) {
    EXPECT_FALSE(IsDeviceFault(ToStatus(cuda.driver(), result, "x")));
  }
}

TEST(DeviceFaultTest, AStatusOfNoCudaCallIsNotFatal) {
  EXPECT_FALSE(IsDeviceFault(absl::OkStatus()));
  EXPECT_FALSE(
      IsDeviceFault(absl::UnavailableError("CUDA_ERROR_ILLEGAL_ADDRESS")));
  EXPECT_EQ(ErrorClassOf(absl::InternalError("x")), std::nullopt);
}

TEST(DeviceFaultTest, OtherDoorsMarkTheirErrors) {
  absl::Status status = absl::InternalError("cublasLtMatmul");
  SetErrorClass(status, kContextFatal);
  EXPECT_TRUE(IsDeviceFault(status));
  EXPECT_EQ(ErrorClassOf(status), kContextFatal);
}

TEST(FillDriverTest, FindsEachFunctionByItsVersionedName) {
  const FakeCuda cuda;
  const absl::StatusOr<Driver> driver =
      FillDriver([&](const char* name) { return cuda.Symbol(name); });
  ASSERT_THAT(driver, IsOk());
  EXPECT_EQ(driver->MemAlloc, cuda.driver().MemAlloc);
  EXPECT_EQ(driver->GraphExecDestroy, cuda.driver().GraphExecDestroy);
}

TEST(FillDriverTest, NamesTheFunctionThatIsMissing) {
  const FakeCuda cuda;
  const absl::StatusOr<Driver> driver =
      FillDriver([&](const char* name) -> void* {
        const std::string text = name;
        return text == "cuMemAlloc_v2" ? nullptr : cuda.Symbol(name);
      });
  EXPECT_THAT(driver, StatusIs(absl::StatusCode::kNotFound,
                               AllOf(HasSubstr("no function cuMemAlloc_v2"),
                                     HasSubstr("the driver is for CUDA 13.0"),
                                     HasSubstr("CUDA 12.4 or newer"))));
}

TEST(FillDriverTest, AnEmptyLibraryReportsNoVersion) {
  EXPECT_THAT(FillDriver([](const char*) -> void* { return nullptr; }),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("no function cuInit"),
                             Not(HasSubstr("the driver is for")))));
}

TEST(FillDriverTest, AnOlderDriverHasTheFirstElapsedTime) {
  const FakeCuda cuda;
  const absl::StatusOr<Driver> driver =
      FillDriver([&](const char* name) -> void* {
        const std::string text = name;
        if (text == "cuEventElapsedTime_v2") return nullptr;
        if (text == "cuEventElapsedTime") {
          return reinterpret_cast<void*>(cuda.driver().EventElapsedTime);
        }
        return cuda.Symbol(name);
      });
  ASSERT_THAT(driver, IsOk());
  EXPECT_EQ(driver->EventElapsedTime, cuda.driver().EventElapsedTime);
}

TEST(FillDriverTest, ADriverOfAnOlderCudaIsRefused) {
  const FakeCuda cuda;
  const auto old = [](int* version) {
    *version = 12020;
    return CUDA_SUCCESS;
  };
  CUresult (*const get_version)(int*) = old;
  const absl::StatusOr<Driver> driver =
      FillDriver([&](const char* name) -> void* {
        return std::string(name) == "cuDriverGetVersion"
                   ? reinterpret_cast<void*>(get_version)
                   : cuda.Symbol(name);
      });
  EXPECT_THAT(driver, StatusIs(absl::StatusCode::kNotFound,
                               AllOf(HasSubstr("the driver is for CUDA 12.2"),
                                     HasSubstr("12.4"))));
}

TEST(LoadDriverTest, AMachineWithoutADriverSaysSo) {
  const absl::StatusOr<Driver> driver = LoadDriver();
  if (driver.ok()) GTEST_SKIP() << "this machine has a CUDA driver";
  EXPECT_THAT(driver,
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("libcuda.so.1")));
}

TEST(VersionTextTest, SplitsTheNumber) {
  EXPECT_EQ(VersionText(12040), "12.4");
  EXPECT_EQ(VersionText(13000), "13.0");
  EXPECT_EQ(VersionText(11080), "11.8");
}

}  // namespace
}  // namespace reprise::cuda
