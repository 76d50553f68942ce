#include "runtime/cuda/nvml.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/fake_nvml.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using testing::FakeNvml;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

TEST(NvmlStatusTest, EachResultHasItsCodeAndText) {
  const FakeNvml fake;
  EXPECT_THAT(ToStatus(fake.nvml(), kNvmlSuccess, "x"), IsOk());
  EXPECT_THAT(ToStatus(fake.nvml(), kNvmlNotFound, "x"),
              StatusIs(absl::StatusCode::kNotFound, "x: Not Found (6)"));
  EXPECT_THAT(ToStatus(fake.nvml(), kNvmlInvalidArgument, "x"),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(ToStatus(fake.nvml(), kNvmlNotSupported, "x"),
              StatusIs(absl::StatusCode::kUnimplemented));
  EXPECT_THAT(ToStatus(fake.nvml(), static_cast<NvmlReturn>(999), "x"),
              StatusIs(absl::StatusCode::kUnavailable, "x: Some Error (999)"));
  EXPECT_THAT(ToStatus(Nvml(), kNvmlTimeout, "x"),
              StatusIs(absl::StatusCode::kUnavailable, "x: NVML error (10)"));
}

TEST(StartNvmlTest, FillsTheTableAndStartsTheLibrary) {
  FakeNvml fake;
  const auto nvml =
      StartNvml([&](const char* name) -> void* { return fake.Symbol(name); });
  ASSERT_THAT(nvml, IsOk());
  EXPECT_EQ(fake.inits, 1);
  EXPECT_EQ(nvml->EventSetWait_v2, fake.nvml().EventSetWait_v2);
  EXPECT_EQ(nvml->DeviceGetMemoryInfo, fake.nvml().DeviceGetMemoryInfo);
}

TEST(StartNvmlTest, AMissingFunctionIsNamedIfItIsNeeded) {
  FakeNvml fake;
  const auto without = [&](const std::string& missing) {
    return StartNvml([&](const char* name) -> void* {
      return name == missing ? nullptr : fake.Symbol(name);
    });
  };
  EXPECT_THAT(without("nvmlDeviceGetMemoryInfo"),
              StatusIs(absl::StatusCode::kNotFound,
                       "NVML has no function nvmlDeviceGetMemoryInfo"));
  EXPECT_EQ(fake.inits, 0);
  EXPECT_THAT(without("nvmlEventSetWait_v2"), IsOk());
  EXPECT_THAT(without("nvmlErrorString"), IsOk());
}

TEST(StartNvmlTest, ALibraryThatDoesNotStartIsUnavailable) {
  FakeNvml fake;
  fake.init_result = static_cast<NvmlReturn>(9);  // no driver
  EXPECT_THAT(
      StartNvml([&](const char* name) -> void* { return fake.Symbol(name); }),
      StatusIs(absl::StatusCode::kUnavailable,
               "starting NVML: Some Error (9)"));
}

TEST(LoadNvmlTest, AMissingLibraryIsNotFound) {
  const auto nvml = LoadNvml();
  if (nvml.ok()) GTEST_SKIP() << "NVML is here";
  if (absl::IsUnavailable(nvml.status())) GTEST_SKIP() << nvml.status();
  EXPECT_THAT(nvml, StatusIs(absl::StatusCode::kNotFound,
                             HasSubstr("libnvidia-ml.so.1")));
}

}  // namespace
}  // namespace reprise::cuda
