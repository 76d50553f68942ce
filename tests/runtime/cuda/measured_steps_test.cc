#include "runtime/cuda/measured_steps.h"

#include <memory>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/cuda/memory.h"
#include "tests/runtime/cuda/context_fixture.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::FakeClock;
using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;

constexpr int64_t kBytes = int64_t{4} << 20;

class MeasuredStepsTest : public ContextFixture {
 protected:
  absl::Status Allocate() {
    auto buffer = DeviceBuffer::Allocate(*current_, kBytes);
    if (!buffer.ok()) return buffer.status();
    buffer_ = *std::move(buffer);
    clock_.Advance(absl::Milliseconds(2));
    return absl::OkStatus();
  }

  FakeClock clock_;
  LoadSteps steps_{clock_};
  MeasuredSteps measured_{steps_};
  DeviceBuffer buffer_;
};

TEST_F(MeasuredStepsTest, WhatAStepTakesIsCountedAsWhatItIsFor) {
  ASSERT_THAT(measured_.Run(*current_, LoadStep::kInstantiate,
                            MemoryUse::kGraphs, [&] { return Allocate(); }),
              IsOk());
  EXPECT_EQ(measured_.bytes(MemoryUse::kGraphs), kBytes);
  EXPECT_EQ(measured_.bytes(MemoryUse::kCode), 0);
  EXPECT_EQ(steps_.times(LoadStep::kInstantiate).count, 1);
}

TEST_F(MeasuredStepsTest, WhatIsFreedIsTakenOffAndTimed) {
  ASSERT_THAT(measured_.Run(*current_, LoadStep::kInstantiate,
                            MemoryUse::kGraphs, [&] { return Allocate(); }),
              IsOk());
  measured_.Free(*current_, MemoryUse::kGraphs, [&] {
    buffer_ = DeviceBuffer();
    clock_.Advance(absl::Milliseconds(7));
  });
  EXPECT_EQ(measured_.bytes(MemoryUse::kGraphs), 0);
  EXPECT_EQ(steps_.times(LoadStep::kFree).longest, absl::Milliseconds(7));
}

TEST_F(MeasuredStepsTest, AStepThatFailsHasTakenNothing) {
  EXPECT_THAT(measured_.Run(*current_, LoadStep::kLoadModule, MemoryUse::kCode,
                            [&] {
                              EXPECT_THAT(Allocate(), IsOk());
                              return absl::InternalError("broken");
                            }),
              StatusIs(absl::StatusCode::kInternal, "broken"));
  EXPECT_EQ(measured_.bytes(MemoryUse::kCode), 0);
}

TEST_F(MeasuredStepsTest, WhatOthersGiveBackMeanwhileMakesNothingNegative) {
  ASSERT_THAT(Allocate(), IsOk());
  ASSERT_THAT(measured_.Run(*current_, LoadStep::kLoadModule, MemoryUse::kCode,
                            [&] {
                              buffer_ = DeviceBuffer();
                              return absl::OkStatus();
                            }),
              IsOk());
  EXPECT_EQ(measured_.bytes(MemoryUse::kCode), 0);
}

}  // namespace
}  // namespace reprise::cuda
