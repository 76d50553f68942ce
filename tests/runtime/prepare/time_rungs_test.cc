#include "runtime/prepare/time_rungs.h"

#include <cstddef>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::FakeClock;
using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::ElementsAre;

class TimeRungsTest : public ::testing::Test {
 protected:
  // Times a ladder of as many rungs; a run of rung i takes costs[i].
  absl::Status Time(const std::vector<absl::Duration>& costs) {
    runs_.assign(costs.size(), 0);
    ladder_.resize(costs.size());
    return TimeRungs(
        clock_,
        [&](size_t rung) -> absl::StatusOr<absl::Duration> {
          ++runs_[rung];
          clock_.Advance(costs[rung]);
          return costs[rung];
        },
        ladder_);
  }

  FakeClock clock_;
  std::vector<int> runs_;
  Ladder ladder_;
};

TEST_F(TimeRungsTest, AFastRungRunsFiftyTimesAfterItsWarmUp) {
  ASSERT_THAT(Time({absl::Milliseconds(1), absl::Milliseconds(2)}), IsOk());
  EXPECT_THAT(runs_, ElementsAre(51, 51));
  EXPECT_EQ(ladder_[0].p50, absl::Milliseconds(1));
  EXPECT_EQ(ladder_[1].p50, absl::Milliseconds(2));
  EXPECT_EQ(ladder_[1].p999, absl::Milliseconds(2));
}

TEST_F(TimeRungsTest, ASlowRungRunsForHalfASecond) {
  ASSERT_THAT(Time({absl::Milliseconds(100)}), IsOk());
  EXPECT_THAT(runs_, ElementsAre(6));
}

TEST_F(TimeRungsTest, ARungThatIsSlowerStillRunsThreeTimes) {
  ASSERT_THAT(Time({absl::Seconds(10)}), IsOk());
  EXPECT_THAT(runs_, ElementsAre(4));
  EXPECT_EQ(ladder_[0].p50, absl::Seconds(10));
}

TEST_F(TimeRungsTest, TheWarmUpIsNotCountedAndTheTailIs) {
  const std::vector<int> microseconds = {900, 10, 10, 10, 70};
  size_t next = 0;
  Ladder ladder(1);
  ASSERT_THAT(TimeRungs(
                  clock_,
                  [&](size_t) -> absl::StatusOr<absl::Duration> {
                    const size_t i = next++ % microseconds.size();
                    if (next == microseconds.size()) {
                      clock_.Advance(absl::Seconds(1));  // enough of them
                    }
                    return absl::Microseconds(microseconds[i]);
                  },
                  ladder),
              IsOk());
  EXPECT_EQ(next, microseconds.size());
  EXPECT_EQ(ladder[0].p50, absl::Microseconds(10));
  EXPECT_EQ(ladder[0].p999, absl::Microseconds(70));
}

TEST_F(TimeRungsTest, TheFirstErrorEndsIt) {
  int runs = 0;
  Ladder ladder(2);
  EXPECT_THAT(TimeRungs(
                  clock_,
                  [&](size_t) -> absl::StatusOr<absl::Duration> {
                    if (++runs == 3) return absl::InternalError("broken");
                    return absl::Microseconds(1);
                  },
                  ladder),
              StatusIs(absl::StatusCode::kInternal));
  EXPECT_EQ(runs, 3);
}

}  // namespace
}  // namespace reprise
