#include "runtime/cpu/cpu_loaded_model.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/cpu/cpu_device.h"
#include "tests/runtime/cpu/model_fixture.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::FakeClock;
using ::reprise::testing::IsOk;
using ::reprise::testing::OnnxBuilder;
using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;

class CpuLoadedModelTest : public ::testing::Test {
 protected:
  std::unique_ptr<LoadedModel> Load(const OnnxBuilder& builder,
                                    const LoadOptions& options = {}) {
    const TestModel model = Import(builder, 8);
    auto loaded = device_->Load(model.graph, model.signature, options);
    EXPECT_THAT(loaded, IsOk());
    return *std::move(loaded);
  }

  FakeClock clock_;  // stands still: times are zero
  std::unique_ptr<Device> device_ =
      CpuDevice::Create({.threads = 1}, clock_).value();
};

TEST_F(CpuLoadedModelTest, PackedWeightsAreSharedByRungsAndLanes) {
  auto loaded = Load(ConvNet());
  const int64_t before = loaded->weight_bytes();
  ASSERT_THAT(loaded->Prepare({}, {1}, 0), IsOk());
  const int64_t packed = loaded->weight_bytes();
  EXPECT_GT(packed, before);
  ASSERT_THAT(loaded->Prepare({}, {1}, 0), IsOk());
  ASSERT_THAT(loaded->Prepare({}, {1}, 1), IsOk());
  EXPECT_EQ(loaded->weight_bytes(), packed);
}

TEST_F(CpuLoadedModelTest, AClockThatStandsStillDropsNoRung) {
  auto loaded = Load(ConvNet(), {.model = "net/1", .may_drop_rungs = true});
  auto executable = loaded->Prepare({}, {1, 2, 4}, 0);
  ASSERT_THAT(executable, IsOk());
  EXPECT_EQ((*executable)->ladder().size(), 3);
}

TEST_F(CpuLoadedModelTest, RefusesLaddersThatAreNone) {
  auto loaded = Load(ConvNet());
  for (const std::vector<int>& ladder :
       {std::vector<int>{}, {0, 1}, {2, 1}, {1, 1}}) {
    EXPECT_THAT(loaded->Prepare({}, ladder, 0),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_THAT(loaded->Prepare({3}, {1}, 0),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("1 dims given for 0")));
  EXPECT_THAT(loaded->Prepare({}, {1}, -1),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(CpuLoadedModelTest, ArenaBytesAreThoseOfTheLargestRung) {
  auto loaded = Load(ConvNet());
  auto small = loaded->Prepare({}, {1}, 0);
  auto large = loaded->Prepare({}, {1, 8}, 0);
  ASSERT_THAT(small, IsOk());
  ASSERT_THAT(large, IsOk());
  EXPECT_GT((*small)->arena_bytes(), 0);
  EXPECT_GT((*large)->arena_bytes(), 4 * (*small)->arena_bytes());
}

TEST_F(CpuLoadedModelTest, RefusesWhatNeedsMoreMemoryThanIsFree) {
  OnnxBuilder model(13);
  model.Input("x", {"N", "length"})
      .Node("Relu", {"x"}, {"y"})
      .Output("y", {"N", "length"});
  auto loaded = Load(model);
  EXPECT_THAT(
      loaded->Prepare({int64_t{1} << 45}, {1}, 0),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("are free")));
}

}  // namespace
}  // namespace reprise::cpu
