#include "server/devices.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "prometheus/text_serializer.h"
#include "runtime/base/clock.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(DevicesTest, TheCpuIsAlwaysThere) {
  ServerOptions options;
  options.device = DeviceChoice::kCpu;
  const auto devices = FindDevices(options, RealClock::Get());
  ASSERT_THAT(devices, IsOk());
  ASSERT_EQ(devices->size(), 1u);
  EXPECT_FALSE(devices->front().gpu_index.has_value());
  const auto device = devices->front().make();
  ASSERT_THAT(device, IsOk());
  EXPECT_GT((*device)->memory().total, 0);
}

// GPUs where there are any, else the CPU.
TEST(DevicesTest, SomethingIsFoundByDefault) {
  const auto devices = FindDevices({}, RealClock::Get());
  ASSERT_THAT(devices, IsOk());
  EXPECT_FALSE(devices->empty());
}

TEST(DevicesTest, ListsOfGpusAreChecked) {
  ServerOptions options;
  options.gpus = "7777";
  const auto devices = FindDevices(options, RealClock::Get());
  EXPECT_THAT(devices.status().message(), HasSubstr("--gpus=7777"));
  EXPECT_FALSE(devices.ok());
}

TEST(DevicesTest, GpusThatAreAskedForMustBeThere) {
  ServerOptions options;
  options.device = DeviceChoice::kCuda;
  const auto devices = FindDevices(options, RealClock::Get());
  if (devices.ok()) GTEST_SKIP() << "there is a GPU";
  EXPECT_THAT(devices, StatusIs(absl::StatusCode::kUnavailable,
                                HasSubstr("--device=cuda: ")));
}

class ShowDevicesTest : public ::testing::Test {
 protected:
  static std::string Page(const std::vector<DeviceToMake>& devices) {
    prometheus::Registry registry;
    ShowDevices(devices, "1.2", "abc", registry);
    return prometheus::TextSerializer().Serialize(registry.Collect());
  }
};

TEST_F(ShowDevicesTest, GpusHaveTheirIndexBesideTheirUuid) {
  std::vector<DeviceToMake> devices(2);
  devices[0].gpu_index = 0;
  devices[0].gpu = {.uuid = "GPU-1", .name = "NVIDIA H200", .sm = "90"};
  devices[1].gpu_index = 1;
  devices[1].gpu = {.uuid = "MIG-2", .name = "NVIDIA H200", .sm = "90"};
  const std::string page = Page(devices);
  for (const std::string series :
       {R"({device="0",name="NVIDIA H200",sm="90",uuid="GPU-1"} 1)",
        R"({device="1",name="NVIDIA H200",sm="90",uuid="MIG-2"} 1)"}) {
    EXPECT_THAT(page, HasSubstr("reprise_gpu_info" + series));
  }
}

TEST_F(ShowDevicesTest, ACpuIsNoGpuAndOpensNoLibraryOfOnes) {
  const std::string page = Page(std::vector<DeviceToMake>(1));
  EXPECT_THAT(page, Not(HasSubstr("reprise_gpu_info")));
  EXPECT_THAT(
      page,
      AllOf(HasSubstr("reprise_build_info{"), HasSubstr(R"(version="1.2")"),
            HasSubstr(R"(commit="abc")"), HasSubstr(R"(cublaslt="")")));
}

}  // namespace
}  // namespace reprise
