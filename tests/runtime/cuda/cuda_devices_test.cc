#include "runtime/cuda/cuda_devices.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/device/fault.h"
#include "tests/testing/fake_cuda.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::FakeCuda;
using testing::FakeGpu;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::kInvalid;
using ::testing::Not;
using testing::StatusIs;

constexpr auto kFailedPrecondition = absl::StatusCode::kFailedPrecondition;
constexpr auto kNotFound = absl::StatusCode::kNotFound;

FakeGpu Gpu(unsigned char first, unsigned char last) {
  FakeGpu gpu;
  gpu.uuid[0] = first;
  gpu.uuid[15] = last;
  return gpu;
}

std::vector<GpuInfo> Listed(std::vector<FakeGpu> gpus) {
  const FakeCuda cuda(std::move(gpus));
  const auto listed = ListGpus(cuda.driver(), std::nullopt);
  EXPECT_THAT(listed, IsOk());
  EXPECT_THAT(cuda.misuses(), IsEmpty());
  return listed.value_or(std::vector<GpuInfo>());
}

std::vector<int> Ordinals(const absl::StatusOr<std::vector<GpuInfo>>& gpus) {
  std::vector<int> ordinals;
  if (!gpus.ok()) return {-1};
  for (const GpuInfo& gpu : *gpus) ordinals.push_back(gpu.ordinal);
  return ordinals;
}

TEST(ListGpusTest, DescribesEachGpu) {
  FakeGpu other = Gpu(0xab, 0xcd);
  other.name = "NVIDIA H200";
  other.minor = 2;
  other.total_memory = size_t{3} << 30;
  other.attributes = {{CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0x41},
                      {CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, 1}};
  const std::vector<GpuInfo> gpus = Listed({Gpu(1, 1), other});
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].numa_node, std::nullopt);
  EXPECT_EQ(gpus[1].ordinal, 1);
  EXPECT_EQ(gpus[1].uuid, "GPU-ab000000-0000-0000-0000-0000000000cd");
  EXPECT_EQ(gpus[1].total_memory, int64_t{3} << 30);
  EXPECT_FALSE(gpus[1].mig);
  EXPECT_EQ(GpuLine(gpus[1]),
            "GPU index=1 name=\"NVIDIA H200\" "
            "uuid=GPU-ab000000-0000-0000-0000-0000000000cd "
            "compute_capability=9.2 memory_bytes=3221225472 "
            "multiprocessors=132 pci=0000:41:00.0 numa_node=1");
}

TEST(ListGpusTest, NoGpuNamesWhatHidesThem) {
  const FakeCuda cuda((std::vector<FakeGpu>()));
  EXPECT_THAT(ListGpus(cuda.driver(), std::nullopt),
              StatusIs(kNotFound, "the CUDA driver shows no GPU"));
  EXPECT_THAT(ListGpus(cuda.driver(), ""),
              StatusIs(kNotFound, HasSubstr("CUDA_VISIBLE_DEVICES is ''")));
}

TEST(ListGpusTest, ADriverThatDoesNotStartSaysWhy) {
  FakeCuda cuda;
  cuda.FailAt("Init", 1, CUDA_ERROR_SYSTEM_NOT_READY);
  const auto gpus = ListGpus(cuda.driver(), std::nullopt);
  EXPECT_THAT(gpus, StatusIs(absl::StatusCode::kUnavailable,
                             HasSubstr("starting the CUDA driver: "
                                       "CUDA_ERROR_SYSTEM_NOT_READY (802)")));
  EXPECT_TRUE(IsDeviceFault(gpus.status()));
}

TEST(ListGpusTest, AFailureOfAnyCallIsReported) {
  FakeCuda counted;
  ASSERT_THAT(ListGpus(counted.driver(), std::nullopt), IsOk());
  int tolerated = 0;
  for (int n = 1; n <= counted.calls(); ++n) {
    FakeCuda cuda;
    cuda.FailCall(n, CUDA_ERROR_UNKNOWN);
    if (ListGpus(cuda.driver(), std::nullopt).ok()) ++tolerated;
  }
  EXPECT_EQ(tolerated, 1);  // the NUMA node
}

TEST(ChooseGpusTest, AllAreAll) {
  const std::vector<GpuInfo> gpus = Listed({Gpu(1, 1), Gpu(2, 2)});
  EXPECT_THAT(Ordinals(ChooseGpus(gpus, "all")), ElementsAre(0, 1));
}

TEST(ChooseGpusTest, ByIndexAndByUuidInTheOrderGiven) {
  const std::vector<GpuInfo> gpus =
      Listed({Gpu(0xaa, 1), Gpu(0xab, 2), Gpu(0xcc, 3)});
  EXPECT_THAT(Ordinals(ChooseGpus(gpus, "2,0")), ElementsAre(2, 0));
  EXPECT_THAT(Ordinals(ChooseGpus(gpus, " 1 , GPU-cc ")), ElementsAre(1, 2));
  EXPECT_THAT(Ordinals(ChooseGpus(gpus, "gpu-AB")), ElementsAre(1));
  EXPECT_THAT(Ordinals(ChooseGpus(gpus, gpus[0].uuid)), ElementsAre(0));
}

TEST(ChooseGpusTest, ABeginningThatFitsTwoIsRefused) {
  const std::vector<GpuInfo> gpus = Listed({Gpu(0xaa, 1), Gpu(0xab, 2)});
  EXPECT_THAT(ChooseGpus(gpus, "GPU-a"),
              StatusIs(kInvalid,
                       AllOf(HasSubstr("0 (GPU-aa"), HasSubstr("1 (GPU-ab"))));
}

TEST(ChooseGpusTest, WhatIsNotThereIsNamed) {
  const std::vector<GpuInfo> gpus = Listed({Gpu(0xaa, 1)});
  EXPECT_THAT(ChooseGpus(gpus, "1"),
              StatusIs(kNotFound, HasSubstr("no GPU 1; the driver shows 0")));
  EXPECT_THAT(
      ChooseGpus(gpus, "GPU-bb"),
      StatusIs(kNotFound, AllOf(HasSubstr("'GPU-bb'"), Not(HasSubstr("MIG")))));
  EXPECT_THAT(ChooseGpus(gpus, "MIG-bb"),
              StatusIs(kNotFound, HasSubstr("CUDA_VISIBLE_DEVICES")));
}

TEST(ChooseGpusTest, AGpuThatIsNamedTwiceIsRefused) {
  const std::vector<GpuInfo> gpus = Listed({Gpu(0xaa, 1), Gpu(0xab, 2)});
  EXPECT_THAT(ChooseGpus(gpus, "0,1,0"),
              StatusIs(kInvalid, HasSubstr("named twice")));
  EXPECT_THAT(ChooseGpus(gpus, "0,GPU-aa"),
              StatusIs(kInvalid, HasSubstr("GPU 0 (GPU-aa")));
}

TEST(ChooseGpusTest, WhatIsNoListOfGpusIsRefused) {
  const std::vector<GpuInfo> gpus = Listed({Gpu(0xaa, 1)});
  for (const char* text : {"", "0,", ",", "-1", "+0", "all,0", "none", "0x0",
                           "GPU-", "99999999999", "0 1"}) {
    EXPECT_THAT(ChooseGpus(gpus, text), StatusIs(kInvalid)) << text;
  }
}

TEST(ChooseGpusTest, AnOldGpuIsRefusedByNameAndLeftOutOfAll) {
  FakeGpu old = Gpu(0xaa, 1);
  old.name = "Tesla V100";
  old.major = 7;
  old.minor = 0;
  FakeGpu oldest_good = Gpu(0xab, 2);
  oldest_good.major = 7;
  oldest_good.minor = 5;
  const std::vector<GpuInfo> gpus = Listed({old, oldest_good});
  EXPECT_THAT(
      ChooseGpus(gpus, "0"),
      StatusIs(kFailedPrecondition,
               AllOf(HasSubstr("Tesla V100"), HasSubstr("capability 7.0"))));
  EXPECT_THAT(Ordinals(ChooseGpus(gpus, "all")), ElementsAre(1));
  EXPECT_THAT(ChooseGpus({gpus[0]}, "all"), StatusIs(kFailedPrecondition));
}

TEST(ChooseGpusTest, AProhibitedGpuIsRefused) {
  FakeGpu gpu;
  gpu.attributes = {
      {CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, CU_COMPUTEMODE_PROHIBITED}};
  EXPECT_THAT(ChooseGpus(Listed({gpu}), "0"),
              StatusIs(kFailedPrecondition, HasSubstr("prohibited")));
}

TEST(ChooseGpusTest, OneMigSliceIsFineAndTwoAreRefused) {
  FakeGpu first = Gpu(0xaa, 1);
  first.name = "NVIDIA H200 MIG 1g.18gb";
  FakeGpu second = Gpu(0xbb, 2);
  second.name = first.name;
  const std::vector<GpuInfo> gpus = Listed({first, second});
  EXPECT_THAT(Ordinals(ChooseGpus(gpus, "MIG-bb")), ElementsAre(1));
  EXPECT_THAT(ChooseGpus(gpus, "GPU-bb"), StatusIs(kNotFound));
  EXPECT_THAT(ChooseGpus(gpus, "all"),
              StatusIs(kFailedPrecondition, HasSubstr("2 MIG slices")));
}

TEST(DriverLineTest, GivesBothVersions) {
  const FakeCuda cuda;
  EXPECT_EQ(DriverLine(cuda.driver()),
            "CUDA driver version=13.0 built_with=" + VersionText(CUDA_VERSION));
}

}  // namespace
}  // namespace reprise::cuda
