#include "runtime/cpu/canary.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;

Signature RowsOf(DType dtype) {
  Signature signature;
  signature.batched = true;
  signature.inputs = {
      {.name = "x", .dtype = dtype, .dims = {2}, .symbols = {""}}};
  signature.outputs = {
      {.name = "y", .dtype = dtype, .dims = {2}, .symbols = {""}}};
  return signature;
}

// Runs the canary over a model written as a function of all rows.
template <typename T = float, typename Fn>
absl::Status Check(Fn model) {
  const Signature signature =
      RowsOf(std::is_same_v<T, float> ? DType::kFp32 : DType::kInt64);
  const std::vector<int> rungs = {1, 2, 4};
  const SlotLayout layout = MakeSlotLayout(signature, 4).value();
  CpuSlot slot(nullptr);
  EXPECT_THAT(slot.Grow(layout), IsOk());
  slot.Use(layout);
  return CheckRowsIndependent(
      {signature, rungs, slot, [&](size_t rung) {
         auto* x = reinterpret_cast<T*>(slot.buffers().inputs[0]);
         auto* y = reinterpret_cast<T*>(slot.buffers().outputs[0]);
         model(x, y, 2 * rungs[rung]);
         return absl::OkStatus();
       }});
}

TEST(CanaryTest, AcceptsRowsThatAreIndependent) {
  EXPECT_THAT(Check([](const float* x, float* y, int n) {
                for (int i = 0; i < n; ++i) y[i] = 3 * x[i];
              }),
              IsOk());
}

TEST(CanaryTest, AcceptsARoundingThatDependsOnTheRung) {
  EXPECT_THAT(Check([](const float* x, float* y, int n) {
                for (int i = 0; i < n; ++i) {
                  y[i] = x[i] * (n > 4 ? 1.0F : 1.0F + 1e-6F);
                }
              }),
              IsOk());
}

TEST(CanaryTest, RefusesAFloorUnderTheWholeBatch) {
  EXPECT_THAT(
      Check([](const float* x, float* y, int n) {
        const float max = *std::max_element(x, x + n);
        for (int i = 0; i < n; ++i) y[i] = std::max(x[i], max - 1);
      }),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("output 'y'")));
}

TEST(CanaryTest, RefusesWhatPoisonReaches) {
  // Rows are added with a weight too small to see, but not for a NaN.
  EXPECT_THAT(
      Check([](const float* x, float* y, int n) {
        float sum = 0;
        for (int i = 0; i < n; ++i) sum += x[i];
        for (int i = 0; i < n; ++i) y[i] = x[i] + sum * 1e-9F;
      }),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("nan")));
}

TEST(CanaryTest, RefusesWhatReachesLaterRowsOnly) {
  EXPECT_THAT(Check([](const float* x, float* y, int n) {
                float sum = 0;
                for (int i = 0; i < n; ++i) {
                  y[i] = x[i] + sum * 1e-9F;
                  if (i % 2 == 1) sum += x[i];
                }
              }),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("of output 'y' is nan")));
}

TEST(CanaryTest, RefusesWhatReachesARowInTheMiddle) {
  EXPECT_THAT(Check([](const float* x, float* y, int n) {
                for (int i = 0; i < n; ++i) y[i] = x[i];
                if (n == 8) y[4] += x[2] * 1e-9F;
              }),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("row 2 of output 'y' is nan")));
}

TEST(CanaryTest, RefusesWhatTheFirstRowTellsTheLast) {
  EXPECT_THAT(Check([](const float* x, float* y, int n) {
                for (int i = 0; i < n; ++i) y[i] = x[i];
                y[n - 1] += n > 2 ? x[0] * 1e-9F : 0;
              }),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("row 3 of output 'y' is nan")));
}

TEST(CanaryTest, ADivisionDoesNotHideWhereAnIntegerGoes) {
  EXPECT_THAT(Check<int64_t>([](const int64_t* x, int64_t* y, int n) {
                for (int i = 0; i < n; ++i) y[i] = x[i] / 1000;
              }),
              IsOk());
  // A row takes a thousandth of its neighbour, unless that is poison.
  EXPECT_THAT(Check<int64_t>([](const int64_t* x, int64_t* y, int n) {
                for (int i = 0; i < n; ++i) {
                  const int64_t other = x[(i + 2) % n];
                  y[i] = x[i] + (other > 20'000 ? 0 : other / 1000);
                }
              }),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("different values")));
}

TEST(CanaryTest, RefusesASwapOfRows) {
  EXPECT_THAT(Check([](const float* x, float* y, int n) {
                for (int i = 0; i < n; ++i) y[i] = x[n - 1 - i];
              }),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace reprise::cpu
