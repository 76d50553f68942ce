#include "runtime/cpu/cpu_executable.h"

#include <pthread.h>

#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/thread.h"
#include "runtime/cpu/heap_slot_memory.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::FakeClock;
using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;

// Two rungs, 1 and 4, of a model that notes how it was run; each run takes
// `cost_` of a clock that otherwise stands still.
class CpuExecutableTest : public ::testing::Test {
 protected:
  std::unique_ptr<Runner> MakeRunner(int rung) {
    Program program;
    program.kernels.push_back({[this, rung](const KernelArgs&) {
      absl::MutexLock lock(&mu_);
      rung_ = rung;
      inline_ = pthread_equal(pthread_self(), main_) != 0;
      clock_.Advance(cost_);
    }});
    program.plan.steps = {{.name = "Note"}};
    return std::make_unique<Runner>(std::move(program), nullptr);
  }

  std::unique_ptr<CpuExecutable> Make(absl::Duration p50,
                                      absl::Duration inline_below) {
    Signature signature;
    signature.batched = true;
    signature.inputs = {{.name = "x", .dims = {}, .symbols = {}}};
    SlotLayout layout = MakeSlotLayout(signature, 4).value();
    EXPECT_THAT(slots_.Add(2), IsOk());
    CpuHolds holds{.arena = {}, .slots = slots_.Require(layout).value()};
    std::vector<std::unique_ptr<Runner>> runners;
    runners.push_back(MakeRunner(1));
    runners.push_back(MakeRunner(4));
    return std::make_unique<CpuExecutable>(
        CpuShared{*lane_, board_, slots_, inline_below}, signature,
        Ladder{{1, p50, p50}, {4, p50, p50}}, std::move(runners),
        std::move(layout), std::move(holds));
  }

  void Run(CpuExecutable& executable, int rows) {
    SlotLease slot = executable.AcquireSlot();
    ASSERT_TRUE(slot);
    ASSERT_THAT(executable.Submit(*slot, rows), IsOk());
    ASSERT_THAT(executable.Wait(*slot, absl::InfiniteFuture()), IsOk());
  }

  const pthread_t main_ = pthread_self();
  FakeClock clock_;
  RunBoard board_{clock_};
  SlotPool slots_{AllocateOnHeap};
  absl::Mutex mu_;
  int rung_ = 0;
  bool inline_ = false;
  absl::Duration cost_ = absl::Microseconds(10);
  std::unique_ptr<Lane> lane_ =
      Lane::Create(0, int64_t{1} << 22, board_, clock_).value();
};

TEST_F(CpuExecutableTest, RunsTheSmallestRungThatHoldsTheRows) {
  auto executable = Make(absl::Microseconds(10), absl::ZeroDuration());
  Run(*executable, 1);
  EXPECT_EQ(rung_, 1);
  Run(*executable, 2);
  EXPECT_EQ(rung_, 4);
  SlotLease slot = executable->AcquireSlot();
  EXPECT_THAT(executable->Submit(*slot, 5),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("has 4")));
}

TEST_F(CpuExecutableTest, AFastRungRunsOnTheThreadThatSubmits) {
  auto executable = Make(absl::Microseconds(10), absl::Microseconds(20));
  Run(*executable, 1);
  EXPECT_TRUE(inline_);
}

TEST_F(CpuExecutableTest, ASlowOrUnknownRungIsHandedOver) {
  auto slow = Make(absl::Microseconds(30), absl::Microseconds(20));
  Run(*slow, 1);
  EXPECT_FALSE(inline_);
  auto unknown = Make(absl::ZeroDuration(), absl::Microseconds(20));
  Run(*unknown, 1);
  EXPECT_FALSE(inline_);
}

TEST_F(CpuExecutableTest, EveryRunRefreshesTheTimesOfItsRung) {
  auto executable = Make(absl::Microseconds(10), absl::ZeroDuration());
  cost_ = absl::Microseconds(40);
  for (int i = 0; i < 400; ++i) Run(*executable, 3);
  EXPECT_NEAR(absl::ToDoubleMicroseconds(executable->ladder()[1].p50), 40, 2);
  EXPECT_EQ(executable->ladder()[0].p50, absl::Microseconds(10));
}

}  // namespace
}  // namespace reprise::cpu
