#include "runtime/cpu/canary.h"

#include <algorithm>
#include <cstring>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;

Signature FloatRows() {
  Signature signature;
  signature.batched = true;
  signature.inputs = {{.name = "x", .dims = {2}, .symbols = {""}}};
  signature.outputs = {{.name = "y", .dims = {2}, .symbols = {""}}};
  return signature;
}

// Runs the canary over a model written as a function of all rows.
template <typename Fn>
absl::Status Check(Fn model) {
  const Signature signature = FloatRows();
  const std::vector<int> rungs = {1, 2, 4};
  const SlotLayout layout = MakeSlotLayout(signature, 4).value();
  CpuSlot slot(nullptr);
  slot.Grow(layout);
  slot.Use(layout);
  return CheckRowsIndependent(
      {signature, rungs, slot, [&](size_t rung) {
         auto* x = reinterpret_cast<float*>(slot.buffers().inputs[0]);
         auto* y = reinterpret_cast<float*>(slot.buffers().outputs[0]);
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

TEST(CanaryTest, RefusesASwapOfRows) {
  EXPECT_THAT(Check([](const float* x, float* y, int n) {
                for (int i = 0; i < n; ++i) y[i] = x[n - 1 - i];
              }),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace reprise::cpu
