#include "runtime/cuda/lane.h"

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "tests/runtime/cuda/context_fixture.h"
#include "tests/testing/fake_stamps.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::ElementsAre;

constexpr std::byte kImage[4] = {};
constexpr int64_t kReserved = int64_t{64} << 20;

class LaneTest : public ContextFixture {
 protected:
  void SetUp() override {
    ContextFixture::SetUp();
    testing::AddStampKernels(cuda_);
    modules_ = std::make_unique<Modules>();
    ASSERT_THAT(modules_->Add(*current_, "all", kImage), IsOk());
    // Looking kernels up loads them, which is no lane's.
    for (const char* const entry :
         {"reprise_stamp_begin", "reprise_stamp_end"}) {
      ASSERT_THAT(modules_->Find(*current_, entry, 0), IsOk());
    }
    without_ = cuda_.live();
  }
  void Make() {
    auto lane = Lane::Create(*current_, *modules_, kReserved);
    ASSERT_THAT(lane, IsOk());
    lane_ = *std::move(lane);
  }

  std::unique_ptr<Modules> modules_;
  std::unique_ptr<Lane> lane_;
  testing::FakeCudaCounts without_;
};

TEST_F(LaneTest, HasStreamsOfItsOwnAndAddressesApart) {
  Make();
  const std::set<CUstream> streams = {lane_->compute(), lane_->copy_in(),
                                      lane_->copy_out()};
  EXPECT_EQ(streams.size(), 3u);
  EXPECT_FALSE(streams.contains(nullptr));
  std::set<CUdeviceptr> addresses = {lane_->arena().address()};
  for (int i = 0; i < kBanks; ++i) addresses.insert(lane_->bank(i).address());
  EXPECT_EQ(addresses.size(), 1u + kBanks);
  EXPECT_EQ(cuda_.live().reservations, 1 + kBanks);
  EXPECT_EQ(cuda_.live().physical, 0);  // no memory yet
}

TEST_F(LaneTest, BatchesTakeTheBanksInTurns) {
  Make();
  std::vector<int> turns;
  for (int i = 0; i < 4; ++i) turns.push_back(lane_->NextBank());
  EXPECT_THAT(turns, ElementsAre(1, 0, 1, 0));
  RunRecord one;
  RunRecord other;
  EXPECT_EQ(lane_->TakeBank(0, &one), nullptr);
  EXPECT_EQ(lane_->TakeBank(1, &other), nullptr);
  EXPECT_EQ(lane_->TakeBank(0, &other), &one);
  EXPECT_EQ(lane_->TakeBank(1, nullptr), &other);
}

TEST_F(LaneTest, WhicheverCallFailsNothingIsLeft) {
  Make();
  lane_ = nullptr;
  const int before = cuda_.calls();
  Make();
  const int calls = cuda_.calls() - before;
  lane_ = nullptr;
  ASSERT_GT(calls, 5);
  for (int n = 1; n <= calls; ++n) {
    cuda_.FailCall(n, CUDA_ERROR_OUT_OF_MEMORY);
    const auto lane = Lane::Create(*current_, *modules_, kReserved);
    if (lane.ok()) continue;  // a call whose failure is logged alone
    EXPECT_THAT(lane, StatusIs(absl::StatusCode::kResourceExhausted)) << n;
    EXPECT_EQ(cuda_.live(), without_) << n;
  }
}

TEST_F(LaneTest, TensorsLieAtTheirOffsets) {
  const std::vector<SlotLayout::Tensor> tensors = {
      {.offset = 0, .bytes = 64, .row_bytes = 8},
      {.offset = 64, .bytes = 4, .row_bytes = 4}};
  EXPECT_THAT(AddressesIn(0x1000, tensors), ElementsAre(0x1000, 0x1040));
}

}  // namespace
}  // namespace reprise::cuda
