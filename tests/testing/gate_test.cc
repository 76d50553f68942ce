#include "tests/testing/gate.h"

#include <atomic>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "runtime/base/thread.h"
#include "tests/testing/fake_clock.h"

namespace reprise {
namespace {

using ::reprise::testing::FakeClock;
using ::reprise::testing::Gate;

TEST(GateTest, CountsThoseInside) {
  Gate gate;
  EXPECT_EQ(gate.inside(), 0);
  EXPECT_TRUE(gate.Enter());
  EXPECT_TRUE(gate.Enter());
  EXPECT_EQ(gate.inside(), 2);
  gate.Leave();
  EXPECT_EQ(gate.inside(), 1);
}

TEST(GateTest, LetsNobodyInOnceClosed) {
  Gate gate;
  ASSERT_TRUE(gate.Enter());
  gate.Close();
  EXPECT_FALSE(gate.Enter());
  EXPECT_EQ(gate.inside(), 1);
  gate.Leave();
  EXPECT_FALSE(gate.Enter());
  EXPECT_EQ(gate.inside(), 0);
}

TEST(GateTest, DrainsAtOnceWhenEmpty) {
  FakeClock clock;
  Gate gate;
  gate.Close();
  EXPECT_TRUE(gate.Drain(clock, clock.Now()));
}

TEST(GateTest, DrainWaitsForTheLastToLeave) {
  FakeClock clock;
  Gate gate;
  ASSERT_TRUE(gate.Enter());
  ASSERT_TRUE(gate.Enter());
  gate.Close();
  std::atomic<bool> drained{false};
  Thread closer("closer",
                [&] { drained = gate.Drain(clock, absl::InfiniteFuture()); });
  clock.AwaitWaiters(1);
  gate.Leave();
  EXPECT_FALSE(drained);
  gate.Leave();
  closer.Join();
  EXPECT_TRUE(drained);
}

TEST(GateTest, DrainGivesUpAtItsDeadline) {
  FakeClock clock;
  Gate gate;
  ASSERT_TRUE(gate.Enter());
  gate.Close();
  std::atomic<bool> drained{true};
  Thread closer("closer", [&, deadline = clock.Now() + absl::Seconds(30)] {
    drained = gate.Drain(clock, deadline);
  });
  clock.AwaitWaiters(1);
  clock.Advance(absl::Seconds(30));
  closer.Join();
  EXPECT_FALSE(drained);
  EXPECT_EQ(gate.inside(), 1);
}

}  // namespace
}  // namespace reprise
