#include "runtime/cuda/cuda_device.h"

#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/cpu/evaluate.h"
#include "runtime/device/fault.h"
#include "tests/runtime/cuda/neg_model.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::FakeCudaCounts;
using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(CudaDeviceTest, OptionsThatCannotBeAreRefused) {
  NegModel neg;
  EXPECT_THAT(neg.Load({.slots_per_lane = 1}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("slots_per_lane")));
  const auto gpus = ListGpus(neg.cuda.driver(), std::nullopt);
  ASSERT_THAT(gpus, IsOk());
  EXPECT_THAT(MakeCudaDevice(neg.cuda.driver(), gpus->front(), {}, neg.clock),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("evaluate is not set")));
}

TEST(CudaDeviceTest, SaysWhatItIs) {
  NegModel neg;
  ASSERT_THAT(neg.Load(), IsOk());
  EXPECT_EQ(neg.device->gpu_index(), 0);
  EXPECT_TRUE(neg.device->is_lost_when_stuck());
  EXPECT_NE(neg.device->load_steps(), nullptr);
  const DeviceMemory memory = neg.device->memory();
  EXPECT_EQ(memory.total, int64_t{1} << 30);
  EXPECT_GT(memory.free, 0);
}

TEST(CudaDeviceTest, MemoryIsToldByWhatItIsFor) {
  NegModel neg;
  neg.cuda.SetGraphBytes(4096);
  ASSERT_THAT(neg.Load(), IsOk());
  EXPECT_EQ(neg.device->memory().banks, 0);
  auto executable = neg.Prepare({1, 2});
  ASSERT_THAT(executable, IsOk());
  const DeviceMemory memory = neg.device->memory();
  EXPECT_GT(memory.banks, 0);
  EXPECT_GT(memory.slots, 0);
  EXPECT_EQ(memory.graphs, 2 * 2 * 4096);  // of two rungs and two banks
  *executable = nullptr;
  EXPECT_EQ(neg.device->memory().graphs, 0);
  EXPECT_EQ(neg.device->memory().banks, 0);
}

TEST(CudaDeviceTest, NothingIsLeftOfIt) {
  NegModel neg;
  ASSERT_THAT(neg.Load(), IsOk());
  ASSERT_THAT(neg.Prepare({1, 2}), IsOk());
  neg.model = nullptr;
  neg.device = nullptr;
  EXPECT_EQ(neg.cuda.live(), FakeCudaCounts{});
  EXPECT_THAT(neg.cuda.misuses(), IsEmpty());
}

class EveryCallTest : public ::testing::TestWithParam<CUresult> {};

TEST_P(EveryCallTest, WhicheverFailsNothingIsLeft) {
  int calls = 0;
  {
    NegModel neg;
    ASSERT_THAT(neg.Load(), IsOk());
    calls = neg.cuda.calls();
  }
  ASSERT_GT(calls, 10);
  const bool fatal = GetParam() == CUDA_ERROR_ILLEGAL_ADDRESS;
  int failed = 0;
  for (int n = 1; n <= calls; ++n) {
    NegModel neg;
    neg.cuda.FailCall(n, GetParam());
    const absl::Status status = neg.Load().status();
    if (!status.ok()) {
      ++failed;
      EXPECT_EQ(absl::IsResourceExhausted(status), !fatal) << n << status;
      EXPECT_EQ(IsDeviceFault(status), fatal) << n << status;
    }
    neg.model = nullptr;
    neg.device = nullptr;
    EXPECT_EQ(neg.cuda.live(), FakeCudaCounts{}) << "call " << n;
    EXPECT_THAT(neg.cuda.misuses(), IsEmpty()) << "call " << n;
  }
  EXPECT_GT(failed, calls / 2);
}

INSTANTIATE_TEST_SUITE_P(CudaDevice, EveryCallTest,
                         ::testing::Values(CUDA_ERROR_OUT_OF_MEMORY,
                                           CUDA_ERROR_ILLEGAL_ADDRESS));

// As when a second instance of a model is asked for and there is no room.
TEST(CudaDeviceTest, ALaneThatCouldNotBeMadeIsMadeLater) {
  NegModel neg;
  ASSERT_THAT(neg.Load(), IsOk());
  neg.cuda.FailAt("MemAddressReserve", 1, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(neg.Prepare({1}), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(neg.Prepare({1}), IsOk());
}

}  // namespace
}  // namespace reprise::cuda
