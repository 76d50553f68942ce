#include "tests/testing/delayed_device.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "runtime/base/thread.h"
#include "runtime/device/device.h"
#include "runtime/device/executable.h"
#include "runtime/graph/graph.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/signature.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/fake_device.h"
#include "tests/testing/status_matchers.h"

namespace reprise::testing {
namespace {

constexpr absl::Duration kDelay = absl::Milliseconds(200);

Signature OneInt() {
  Signature signature;
  signature.batched = true;
  signature.max_batch = 4;
  signature.inputs = {{"INPUT0", DType::kInt32, {1}, {""}}};
  signature.outputs = {{"OUTPUT0", DType::kInt32, {1}, {""}}};
  return signature;
}

class DelayedDeviceTest : public ::testing::Test {
 protected:
  // An executable of a model of this name.
  std::unique_ptr<Executable> Prepare(const std::string& model) {
    auto loaded = device_->Load(std::make_shared<graph::Graph>(), OneInt(),
                                {model, "fp32"});
    EXPECT_THAT(loaded, IsOk());
    models_.push_back(*std::move(loaded));
    auto executable = models_.back()->Prepare({}, {1, 4}, /*lane=*/0);
    EXPECT_THAT(executable, IsOk());
    return *std::move(executable);
  }

  FakeClock clock_;
  FakeDevice fake_{clock_};
  std::unique_ptr<Device> device_ =
      DelayDevice(fake_.Make(), {{"slow", kDelay}}, clock_);
  std::vector<std::unique_ptr<LoadedModel>> models_;
};

TEST_F(DelayedDeviceTest, OtherModelsAreLeftAsTheyAre) {
  auto executable = Prepare("fast/1");
  EXPECT_EQ(executable->ladder()[0].p50, FakeDeviceOptions().rung_time(1));
  SlotLease slot = executable->AcquireSlot();
  ASSERT_THAT(executable->Submit(*slot, 1), IsOk());
  EXPECT_THAT(executable->Wait(*slot, clock_.Now()), IsOk());
}

TEST_F(DelayedDeviceTest, ARunEndsWhenItsDelayHasPassed) {
  auto executable = Prepare("slow/1");
  EXPECT_EQ(executable->ladder()[0].p50,
            FakeDeviceOptions().rung_time(1) + kDelay);
  SlotLease slot = executable->AcquireSlot();
  ASSERT_THAT(executable->Submit(*slot, 1), IsOk());
  EXPECT_THAT(executable->Wait(*slot, clock_.Now()),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  clock_.Advance(kDelay);
  const auto times = executable->Wait(*slot, clock_.Now());
  ASSERT_THAT(times, IsOk());
  EXPECT_GE(times->graph, kDelay);
}

TEST_F(DelayedDeviceTest, RunsEndOneAfterTheOther) {
  auto executable = Prepare("slow/1");
  SlotLease first = executable->AcquireSlot();
  SlotLease second = executable->AcquireSlot();
  ASSERT_THAT(executable->Submit(*first, 1), IsOk());
  ASSERT_THAT(executable->Submit(*second, 1), IsOk());
  clock_.Advance(kDelay);
  EXPECT_THAT(executable->Wait(*first, clock_.Now()), IsOk());
  EXPECT_THAT(executable->Wait(*second, clock_.Now()),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  clock_.Advance(kDelay);
  EXPECT_THAT(executable->Wait(*second, clock_.Now()), IsOk());
}

TEST_F(DelayedDeviceTest, WakeEndsAWait) {
  auto executable = Prepare("slow/1");
  SlotLease slot = executable->AcquireSlot();
  ASSERT_THAT(executable->Submit(*slot, 1), IsOk());
  {
    Thread waker("waker", [this] {
      clock_.AwaitWaiters(1);
      device_->Wake();
    });
    EXPECT_THAT(executable->Wait(*slot, absl::InfiniteFuture()),
                StatusIs(absl::StatusCode::kAborted));
  }
  clock_.Advance(kDelay);
  // The inner device's own wake-up may still be there to be used up.
  absl::Status status = absl::AbortedError("");
  for (int i = 0; i < 2 && absl::IsAborted(status); ++i) {
    status = executable->Wait(*slot, absl::InfiniteFuture()).status();
  }
  EXPECT_THAT(status, IsOk());
}

TEST_F(DelayedDeviceTest, AFailedRunIsNotDelayed) {
  auto executable = Prepare("slow/1");
  SlotLease slot = executable->AcquireSlot();
  fake_.FailSubmit(absl::InternalError("broken"));
  EXPECT_THAT(executable->Submit(*slot, 1),
              StatusIs(absl::StatusCode::kInternal));
}

TEST_F(DelayedDeviceTest, TheFactoryFailsAsItsInnerOneDoes) {
  const DeviceFactory factory = DelayFactory(
      [] { return absl::UnavailableError("no device"); }, {}, clock_);
  EXPECT_THAT(factory(), StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace reprise::testing
