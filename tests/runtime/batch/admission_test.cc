#include "runtime/batch/admission.h"

#include "gtest/gtest.h"

namespace reprise {
namespace {

constexpr absl::Time kNow = absl::UnixEpoch();

// Capacity at 10 ms: 4 rows in 4.02 ms, 995 a second.
Ladder TestLadder() {
  return {
      {.rows = 1, .p50 = absl::Milliseconds(1), .p999 = absl::Milliseconds(1)},
      {.rows = 4, .p50 = absl::Milliseconds(4), .p999 = absl::Milliseconds(4)}};
}

class AdmissionTest : public ::testing::Test {
 protected:
  const Ladder ladder_ = TestLadder();
  AdmissionView view_{.ladder = ladder_,
                      .slo = absl::Milliseconds(10),
                      .rows_ahead = 0,
                      .arrival_rate = 0,
                      .device_busy = absl::ZeroDuration()};
};

TEST_F(AdmissionTest, WithoutASloNothingIsRefused) {
  view_.slo.reset();
  view_.rows_ahead = 1000;
  view_.arrival_rate = 1e9;
  EXPECT_EQ(Admit(view_, 4, kNow, kNow), Admission::kAdmitted);
}

TEST_F(AdmissionTest, WhatCannotBeInTimeAloneIsTooLate) {
  EXPECT_EQ(Admit(view_, 1, kNow + absl::Milliseconds(1), kNow),
            Admission::kTooLate);
  EXPECT_EQ(Admit(view_, 1, kNow + absl::Milliseconds(1.1), kNow),
            Admission::kAdmitted);
  EXPECT_EQ(Admit(view_, 2, kNow + absl::Milliseconds(1.1), kNow),
            Admission::kTooLate);
}

TEST_F(AdmissionTest, ALongQueueRefusesOnlyWhileItGrows) {
  const absl::Time deadline = kNow + absl::Milliseconds(10);
  view_.rows_ahead = 8;  // 8 ms, and 4 ms for the own batch
  view_.arrival_rate = 2000;
  EXPECT_EQ(Admit(view_, 1, deadline, kNow), Admission::kOverloaded);
  view_.arrival_rate = 100;
  EXPECT_EQ(Admit(view_, 1, deadline, kNow), Admission::kAdmitted);
  view_.arrival_rate = 2000;
  view_.rows_ahead = 4;
  EXPECT_EQ(Admit(view_, 1, deadline, kNow), Admission::kAdmitted);
  view_.device_busy = absl::Milliseconds(3);
  EXPECT_EQ(Admit(view_, 1, deadline, kNow), Admission::kOverloaded);
}

TEST_F(AdmissionTest, EstimatesTheWaitByTheCapacity) {
  view_.rows_ahead = 4;
  view_.device_busy = absl::Milliseconds(1);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(EstimatedWait(view_)), 1 + 4.02 + 4.02,
              1e-6);
}

}  // namespace
}  // namespace reprise
